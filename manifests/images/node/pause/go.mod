module schedproof.invalid/pause

go 1.24
