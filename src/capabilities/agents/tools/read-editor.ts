import { ApiError } from '../../../core/base/errors.ts'
import type { TextQuery, TextQueryAnswer } from '../../../core/content/text-query.ts'
import type { ToolContext } from '../tool.ts'
import type { ContentKind, FoundEditor } from './editor-address.ts'

type TextFormat = 'markdown' | 'text' | 'json'

/** The answer to a query about the content of an editor as text. */
interface EditorText {
  readonly answer: TextQueryAnswer
  readonly format: TextFormat
  readonly version: string
  /** Length of the whole text in UTF-16 units. */
  readonly characters: number
}

/** Formats in which content can be read, the best one first. */
const formatsOf: Readonly<Record<ContentKind, readonly TextFormat[]>> = {
  xml: ['markdown', 'text', 'json'],
  text: ['markdown', 'text', 'json'],
  json: ['json'],
}

/**
 * Answers a query about the content of an editor, in the first of the formats that the content has.
 * @throws ApiError if there is no content, or too much
 */
export async function queryEditor(
  { ids, root, kind }: FoundEditor,
  query: TextQuery,
  context: ToolContext,
  formats: readonly TextFormat[] = formatsOf[kind],
): Promise<EditorText> {
  for (const format of formats) {
    const json = await context.api
      .read('/v2/crdt/get', { ...ids, ...root, format })
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'crdt/root-kind-mismatch' && format !== 'json')
          return null
        throw error
      })
    if (json === null) continue
    const answered = await context.answerText(ids, json, query)
    if (answered === null) continue
    if (answered === 'too long')
      throw new ApiError(
        'mcp/document-too-large',
        'the editor has too much content for this tool; read a part of it',
      )
    const { isText, ...text } = answered
    return { ...text, format: format === 'json' && isText ? 'text' : format }
  }
  throw new ApiError(
    'crdt/root-kind-mismatch',
    'the root has no content that can be read as text; read it as json, or name another root',
  )
}
