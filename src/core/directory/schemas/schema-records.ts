import * as s from '../../base/schema.ts'
import type { SchemaSpec } from '../../content/schemas/schema-spec.ts'
import type { Tenant } from '../../model/address.ts'
import type { Key } from '../../store/engine.ts'
import type { RecordType } from '../../store/stored-record.ts'

/** A schema that an API key has stored. */
export interface SchemaRecord {
  readonly name: string
  readonly schema: SchemaSpec
  /** Times in epoch milliseconds. */
  readonly createdAt: number
  readonly lastUpdated: number
}

export const schemaRecordType: RecordType<SchemaRecord> = {
  name: 'schema',
  schema: s.object({
    name: s.string,
    // `checkSchema` has checked the members before they were stored.
    schema: s.trusted<SchemaSpec>(s.object({})),
    createdAt: s.number,
    lastUpdated: s.number,
  }),
}

/** The schema of an editor. */
export interface AttachedSchema {
  /** Name of a preset, or of a schema of the API key. */
  readonly schema: string
  /** The root that the schema describes. */
  readonly contentKey: string
}

/** The schemas of the editors of a document, by editor id. */
interface EditorSchemas {
  readonly editors: readonly (AttachedSchema & { readonly editorId: string })[]
}

export const editorSchemasType: RecordType<EditorSchemas> = {
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
