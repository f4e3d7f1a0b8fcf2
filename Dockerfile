# A clone that is set up, as `make setup` does it. Not for students: they need only `pip install attnlab`.
# Classes are graded in the strictest jail only if the container may make namespaces: docker run --privileged.
FROM python:3.11-slim-bookworm
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends bubblewrap git make && rm -rf /var/lib/apt/lists/*
WORKDIR /attnlab
COPY . .
RUN make setup
ENV PATH="/attnlab/.venv/bin:$PATH"
CMD ["attn", "doctor"]
