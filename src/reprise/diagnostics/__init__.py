"""Measurements of weights and embeddings: pure functions, of tensors or of NumPy's arrays."""

from reprise.diagnostics import (
    alignment,
    balance,
    discriminant,
    hypersphere,
    matching,
    probes,
    ranks,
    spectra,
    zero_shot,
)
from reprise.diagnostics.arrays import on_arrays

accuracy = on_arrays(probes.accuracy)
alignment_matrix = on_arrays(alignment.alignment_matrix)
alignment_score = on_arrays(balance.alignment_score)
alpha_req = on_arrays(ranks.alpha_req)
captured_tokens = on_arrays(matching.captured_tokens)
collapsed_dimensions = on_arrays(ranks.collapsed_dimensions)
complete_fields = on_arrays(matching.complete_fields)
condition_number = on_arrays(balance.condition_number)
covariance_eigenvalues = on_arrays(balance.covariance_eigenvalues)
discriminant_eigenvalues = on_arrays(discriminant.discriminant_eigenvalues)
effective_rank = on_arrays(ranks.effective_rank)
embedding_spectrum = on_arrays(spectra.embedding_spectrum)
imbalance = on_arrays(alignment.imbalance)
intrinsic_dimension = on_arrays(balance.intrinsic_dimension)
lidar = on_arrays(discriminant.lidar)
linear_probe = on_arrays(probes.linear_probe)
matching_score = on_arrays(matching.matching_score)
most_frequent_accuracy = on_arrays(zero_shot.most_frequent_accuracy)
nearest_neighbours = on_arrays(probes.nearest_neighbours)
normalised_log_spectrum = on_arrays(spectra.normalised_log_spectrum)
off_diagonal_mass = on_arrays(alignment.off_diagonal_mass)
rank_of_entropy = on_arrays(ranks.rank_of_entropy)
representations = probes.representations
spectral_entropy = on_arrays(ranks.spectral_entropy)
stable_rank = on_arrays(balance.stable_rank)
subspace_mass_outside = on_arrays(alignment.subspace_mass_outside)
token_matches = on_arrays(matching.token_matches)
uniformity = on_arrays(hypersphere.uniformity)
view_alignment = on_arrays(hypersphere.view_alignment)
view_correlation = on_arrays(spectra.view_correlation)
zero_shot_accuracy = on_arrays(zero_shot.zero_shot_accuracy)
