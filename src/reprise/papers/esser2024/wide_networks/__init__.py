"""Wide nonlinear networks: collapse under the losses (1) and (2), and distance from their tangent kernel."""
