import { readJsonOrNull } from '../../../core/base/json.ts'
import * as s from '../../../core/base/schema.ts'
import { adoptedMax } from '../../../core/store/log-state.ts'
import { isPath } from '../name-mapping.ts'
import { documentFileTypes, fileMembers, type ListKind, type ManifestLine, wellFormed } from './manifest.ts'

const key = s.checked(s.array(wellFormed), ({ length }) => length > 0)
const numberFrom = (least: number) => s.integer(least, adoptedMax)
const address = s.checked(
  s.object({
    workspaceId: wellFormed,
    apiKey: wellFormed,
    organizationId: wellFormed,
    documentId: wellFormed,
    editorId: wellFormed,
  }),
  isPath,
)

/** Returns the schema of an object with these members and with bytes, as `exportedBytes` returns them. */
const withBytes = <const R extends s.MemberSchemas, const O extends s.MemberSchemas>(
  required: R,
  optional: O,
) =>
  s.anyOf([
    s.object({ ...required, json: s.unknown }, optional),
    s.object({ ...required, base64: wellFormed }, optional),
  ])

/**
 * Schemas of the lines of each list. These checks are necessary because a matching checksum does not prove
 * that Weft wrote the lines.
 */
const schemas: { readonly [Kind in ListKind]: s.SchemaOf<ManifestLine[Kind]> } = {
  documents: s.variant('state', [
    s.object(
      {
        state: s.literal('live'),
        address,
        log: s.object({
          epoch: numberFrom(1),
          head: numberFrom(1),
          changedAt: numberFrom(0),
          changedBy: wellFormed,
        }),
        stateVector: wellFormed,
        files: s.array(
          s.object({ ...fileMembers, is: s.choice(documentFileTypes) }, { contentKey: wellFormed }),
        ),
      },
      { attribution: s.object(fileMembers) },
    ),
    s.object({ state: s.literal('deleted'), address, epoch: numberFrom(1) }),
  ]),
  values: withBytes({ part: key, key }, { secrets: s.array(wellFormed) }),
  blobs: s.object({ ...fileMembers, key }),
  jobs: withBytes(
    { is: s.choice(['job', 'buried']), queue: wellFormed, id: wellFormed, at: numberFrom(0) },
    { error: s.string },
  ),
}

/** Parses a line of the list `kind`. Returns null if the line is invalid. */
export const readManifestLine = <Kind extends ListKind>(
  kind: Kind,
  line: string,
): ManifestLine[Kind] | null => readJsonOrNull(schemas[kind], line)
