"""What a search knows and decides without network, disk, clock or server: values in, values out."""
