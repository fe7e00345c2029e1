"""The mathematics and the models behind the pages: no Streamlit, and Altair in charts only."""
