"""Asks for the text of a file with OpenAI's client for Python, in each way; prints what came as JSON."""

import json
import sys

import openai

given = json.loads(sys.argv[1])
client = openai.OpenAI(api_key=given["key"], base_url=given["base_url"], max_retries=0)


def asked(**more):
    with open(given["file"], "rb") as file:
        return client.audio.transcriptions.create(model="whisper-1", file=file, **more)


verbose = asked(response_format="verbose_json", timestamp_granularities=["word", "segment"])
deltas, done = "", ""
with open(given["file"], "rb") as file:
    for event in client.audio.transcriptions.create(model="gpt-4o-mini-transcribe", file=file, stream=True):
        if event.type == "transcript.text.delta":
            deltas += event.delta
        elif event.type == "transcript.text.done":
            done = event.text
try:
    asked(response_format="xml")
    refused = None
except openai.BadRequestError as error:
    refused = {"param": error.param, "code": error.code}
try:
    openai.OpenAI(api_key="sk-none", base_url=given["base_url"], max_retries=0).models.list()
    stranger = None
except openai.AuthenticationError as error:
    stranger = error.status_code

print(
    json.dumps(
        {
            "text": asked().text,
            "srt": asked(response_format="srt"),
            "segments": [segment.text for segment in verbose.segments or []],
            "words": len(verbose.words or []),
            "deltas": deltas,
            "done": done,
            "refused": refused,
            "stranger": stranger,
            "models": [model.id for model in client.models.list()],
        }
    )
)
