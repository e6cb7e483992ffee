import type { TextSchema } from './check-text.ts'
import type { XmlTextSchema } from './check-xmltext.ts'
import type { CompiledSchema } from './compiled-schema.ts'

/** A schema of the content of a root. */
export type ContentSchema = CompiledSchema | TextSchema | XmlTextSchema
