"""Section 6.1: does the layer below align with a projector that is frozen, diagonal or of low rank?"""
