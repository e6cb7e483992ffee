import type { KnownKind } from '../yjs/root-kind.ts'
import type { TextSchema, XmlTextSchema } from './check-texts.ts'
import type { CompiledSchema } from './compiled-schema.ts'

/** A schema of the content of a root. */
export type ContentSchema = CompiledSchema | TextSchema | XmlTextSchema

const kinds: Readonly<Record<ContentSchema['is'], KnownKind>> = {
  nodes: 'xml',
  text: 'text',
  xmltext: 'xmltext',
}

/** Returns the kind of a root that a schema describes. */
export const kindOfSchema = ({ is }: ContentSchema): KnownKind => kinds[is]

/** Returns a schema if it is one for XML, otherwise null. */
export const nodeSchema = (schema: ContentSchema | null): CompiledSchema | null =>
  schema?.is === 'nodes' ? schema : null
