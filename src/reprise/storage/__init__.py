"""What is kept on the disk, by what determines it, and checked when it is read."""
