"""One lint rule a module: its code, its texts and its check stand together. `registry` lists them."""
