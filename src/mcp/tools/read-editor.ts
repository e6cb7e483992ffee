import * as v from 'valibot'
import { showHidden } from '../document-data.ts'
import { mcpLimits } from '../mcp-limits.ts'
import type { ToolContext } from '../tool.ts'
import { ToolError } from '../tool-error.ts'
import type { ContentKind, FoundEditor } from './editor-address.ts'

const entrySchema = v.array(
  v.object({ data: v.unknown(), version: v.string(), type: v.string(), lastUpdate: v.string() }),
)

/** The content of an editor as text. */
export interface EditorText {
  readonly text: string
  readonly format: 'markdown' | 'text' | 'json'
  readonly version: string
  readonly lastUpdate: string
}

/** Formats in which content can be read, the best one first. */
const formatsOf: Readonly<Record<ContentKind, readonly ('markdown' | 'text' | 'json')[]>> = {
  xml: ['markdown', 'text', 'json'],
  text: ['markdown', 'text', 'json'],
  json: ['json'],
}

/**
 * Reads the content of an editor in the first of the formats that the content has.
 * @throws ToolError if there is no content, or too much
 */
export async function readEditorText(
  { ids, root, kind }: FoundEditor,
  context: ToolContext,
  formats: readonly ('markdown' | 'text' | 'json')[] = formatsOf[kind],
): Promise<EditorText> {
  for (const format of formats) {
    const read = await context.api
      .call('/v2/crdt/get', { ...ids, ...root, format }, entrySchema)
      .catch((error: unknown) => {
        if (error instanceof ToolError && error.code === 'crdt/root-kind-mismatch' && format !== 'json')
          return null
        throw error
      })
    const [entry] = read?.data ?? []
    if (entry === undefined) continue
    const text = typeof entry.data === 'string' ? entry.data : JSON.stringify(entry.data, null, 1)
    if (text.length > mcpLimits.documentCharacters)
      throw new ToolError('mcp/document-too-large', 'the editor has too much content for this tool', {
        status: 'FAILED_PRECONDITION',
      })
    return {
      text: showHidden(text),
      format: format === 'json' && typeof entry.data === 'string' ? 'text' : format,
      version: entry.version,
      lastUpdate: entry.lastUpdate,
    }
  }
  throw new ToolError('crdt/root-kind-mismatch', 'the root has no content that can be read as text', {
    status: 'INVALID_ARGUMENT',
  })
}
