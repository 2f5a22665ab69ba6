"""IR -> text of the generated files. Emitters see the IR and `naming`, never schema text."""
