"""Classical language processing that embedded engines and scoring share."""
