"""What engines answer: the record of an answer, its parsing, and files of recorded ones."""
