import * as s from '../../base/schema.ts'
import type { SchemaSpec } from '../../content/schemas/schema-spec.ts'
import type { Tenant } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'

/** A schema that an API key has stored. */
export const schemaRecordType = {
  name: 'schema',
  schema: s.object({
    name: s.string,
    // `checkSchema` has checked the members before they were stored.
    schema: s.trusted<SchemaSpec>(s.object({})),
    /** Times in epoch milliseconds. */
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}
export type SchemaRecord = s.TypeOf<typeof schemaRecordType.schema>

/** The schema of an editor. */
export interface AttachedSchema {
  /** Name of a preset, or of a schema of the API key. */
  readonly schema: string
  /** The root that the schema describes. */
  readonly contentKey: string
}

/** The schemas of the editors of a document, by editor id. */
export const editorSchemasType = {
  name: 'schemas of editors',
  schema: s.object({
    editors: s.array(s.object({ editorId: s.string, schema: s.string, contentKey: s.string })),
  }),
}

/** Partition with the schemas of an API key. */
export const schemasPart = ({ workspaceId, apiKey }: Tenant): Key => ['schemas', workspaceId, apiKey]

/** Returns the API key whose schemas are in a partition; null for any other partition. */
export function tenantOfSchemas([name, workspaceId, apiKey]: Key): Tenant | null {
  const isOne = name === 'schemas' && workspaceId !== undefined && apiKey !== undefined
  return isOne ? { workspaceId, apiKey } : null
}

export const schemaKeys = {
  /** Counter: the number of schemas. */
  count: ['count'] satisfies Key,
  schemas: ['schemas'] satisfies Key,
  schema: (name: string): Key => ['schemas', name],
}
