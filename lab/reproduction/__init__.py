"""The paper's experiments: protocol → tidy rows → tables and figures."""
