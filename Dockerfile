# A clone with the environment of its pins. No image was built here: hadolint has nothing against this file, and its
# commands, the smoke tier among them, ran in a bare Debian 12 with Debian's own Python 3.11.
#   docker build -t reprise .
#   docker run reprise                # the smoke tier: checks that everything runs
#   docker run -it reprise bash       # make, snakemake and reprise, as in a clone
FROM python:3.11-slim-bookworm

# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends git make && rm -rf /var/lib/apt/lists/*

WORKDIR /reprise
COPY . .
RUN make environment
ENV PATH=/reprise/.venv/bin:$PATH

CMD ["make", "reproduce", "TIER=smoke"]
