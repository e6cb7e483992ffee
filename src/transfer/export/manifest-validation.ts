import * as v from 'valibot'
import { adoptedMax } from '../../engine/log-state.ts'
import { isPath } from '../import/name-mapping.ts'
import { documentFileTypes, fileSchema, type ListKind, type ManifestLine } from './manifest.ts'

const text = v.pipe(
  v.string(),
  v.check((value) => value.isWellFormed()),
)
const key = v.pipe(v.array(text), v.minLength(1))
const numberFrom = (least: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(adoptedMax))
const bytes = v.union([v.looseObject({ json: v.unknown() }), v.looseObject({ base64: text })])
const address = v.pipe(
  v.looseObject({
    workspaceId: text,
    apiKey: text,
    organizationId: text,
    documentId: text,
    editorId: text,
  }),
  v.check((path) => isPath(path)),
)

/**
 * Schemas of the lines of each list. These checks are necessary because a matching checksum does not prove
 * that Weft wrote the lines.
 */
const schemas: { readonly [Kind in ListKind]: v.GenericSchema<ManifestLine[Kind], unknown> } = {
  documents: v.variant('state', [
    v.looseObject({
      state: v.literal('live'),
      address,
      log: v.looseObject({
        epoch: numberFrom(1),
        head: numberFrom(1),
        changedAt: numberFrom(0),
        changedBy: text,
      }),
      stateVector: text,
      files: v.array(
        v.looseObject({
          ...fileSchema.entries,
          is: v.picklist(documentFileTypes),
          contentKey: v.exactOptional(text),
        }),
      ),
      attribution: v.exactOptional(fileSchema),
    }),
    v.looseObject({ state: v.literal('deleted'), address, epoch: numberFrom(1) }),
  ]),
  values: v.intersect([v.looseObject({ part: key, key, secrets: v.exactOptional(v.array(text)) }), bytes]),
  blobs: v.looseObject({ ...fileSchema.entries, key }),
  jobs: v.intersect([
    v.looseObject({
      is: v.picklist(['job', 'buried']),
      queue: text,
      id: text,
      at: numberFrom(0),
      error: v.exactOptional(v.string()),
    }),
    bytes,
  ]),
}

/** Returns whether `line` is a valid line of the list `kind`. */
export const isManifestLine = <Kind extends ListKind>(
  kind: Kind,
  line: unknown,
): line is ManifestLine[Kind] => v.is(schemas[kind], line)
