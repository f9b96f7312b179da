"""Files made by chance, until one of them makes an error that is not ours."""
