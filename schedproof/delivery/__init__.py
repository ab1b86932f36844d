"""How an image reaches the nodes when it is not loaded into them."""
