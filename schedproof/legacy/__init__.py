"""The documents' old lines: what each of them does with the programs of today."""
