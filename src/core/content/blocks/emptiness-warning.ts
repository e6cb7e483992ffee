import type { RootReplacement } from '../yjs/root-replacement.ts'
import type { TextOfBlocks } from './block-format.ts'

const warning =
  'the Markdown is not empty, but has no blocks (only, for example, definitions of links), so it stands for no content; ' +
  'to write it as it is, send the format "text"'

/**
 * Adds a warning to the result of a change if one of its texts is Markdown that is not empty, but has no blocks, such as
 * definitions of links. Such a text removes what it replaces, and inserts nothing. HTML states empty blocks.
 */
export function withEmptinessWarning<Result extends RootReplacement>(
  result: Result,
  texts: readonly (TextOfBlocks | null)[],
): Result {
  const isEmpty = texts.some(
    (text) => text?.format.name === 'markdown' && text.usual.blocks.length === 0 && text.text.trim() !== '',
  )
  return isEmpty ? { ...result, warnings: [...(result.warnings ?? []), warning] } : result
}
