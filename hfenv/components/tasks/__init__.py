"""Task files in one streaming pass, by several processes: rows, columns, splits, and what is wrong with them."""
