"""Checks that events are valid by the JSON schema of the Open Cybersecurity Schema Framework.

    check_ocsf.py FILE

FILE has an event in each line: what the tests have received or made. Every class that the service writes must occur.
"""

import json
import sys
from functools import cache

from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

VERSION = "1.6.0"
CLASSES = {3001, 3002, 3004, 3005, 6003}

schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(VERSION))


@cache
def validator(class_uid):
    return Draft202012Validator(schema.get_class_schema(schema.lookup_class_name_from_uid(class_uid)))


def captions(class_uid, attribute):
    described = schema.schema.schema["classes"][schema.lookup_class_name_from_uid(class_uid)]
    enum = described["attributes"][attribute]["enum"]
    return {int(value): text["caption"] for value, text in enum.items()}


def findings(event):
    """What is wrong with an event. The schema itself does not compare names with identifiers."""
    class_uid = event["class_uid"]
    for error in validator(class_uid).iter_errors(event):
        yield f"{error.json_path}: {error.message[:200]}"
    if event["type_uid"] != class_uid * 100 + event["activity_id"]:
        yield "type_uid is not that of the class and the activity"
    names = {"class_uid": "class_name", "type_uid": "type_name", "severity_id": "severity", "status_id": "status"}
    for identifier, name in names.items():
        if captions(class_uid, identifier)[event[identifier]] != event[name]:
            yield f"{name} is not the caption of {identifier}"


def main():
    with open(sys.argv[1]) as file:
        events = [json.loads(line) for line in file]
    wrong = [(event, found) for event in events for found in findings(event)]
    for event, found in wrong[:20]:
        print(f"{found}\n    {json.dumps(event)[:1000]}", file=sys.stderr)
    if missing := CLASSES - {event["class_uid"] for event in events}:
        sys.exit(f"no test has received an event of these classes: {sorted(missing)}")
    if wrong:
        sys.exit(f"{len(wrong)} errors in {len(events)} events")
    print(f"{len(events)} events are valid by OCSF {VERSION}")


if __name__ == "__main__":
    main()
