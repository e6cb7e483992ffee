import type { FromSchema } from '../../api/schema.ts'
import { mcpLimits } from '../mcp-limits.ts'
import { invalidArgument } from '../tool-error.ts'
import type { ContentKind } from './editor-address.ts'

const quote = { type: 'string', minLength: 1, maxLength: 10_000 } as const

/** Actions of an edit, with whether each needs a target and content. */
const actions = {
  replace: { target: true, content: true },
  insert_before: { target: true, content: true },
  insert_after: { target: true, content: true },
  append_to_section: { target: true, content: true },
  insert_at_start: { target: false, content: true },
  insert_at_end: { target: false, content: true },
  remove: { target: true, content: false },
} as const

export const editsInput = {
  type: 'array',
  minItems: 1,
  maxItems: mcpLimits.edits,
  description: 'All are applied, or none. A later edit finds the content as earlier edits left it.',
  items: {
    type: 'object',
    required: ['action'],
    properties: {
      action: {
        type: 'string',
        enum: Object.keys(actions) as (keyof typeof actions)[],
        description:
          '`replace`, `remove`, `insert_before`, `insert_after` need `quote` or `heading`. `append_to_section` needs ' +
          '`heading`. With `heading`, `insert_after` means after its whole section, and `remove` and `replace` mean the heading alone.',
      },
      quote: {
        ...quote,
        description:
          'Exact text of the document, without Markdown signs, within one paragraph. It must occur once; otherwise add ' +
          '`before`, `after` or `occurrence`.',
      },
      before: { ...quote, description: 'Text directly before the quote.' },
      after: { ...quote, description: 'Text directly after the quote.' },
      heading: { ...quote, description: 'Text of a heading, without `#`.' },
      occurrence: { type: 'integer', minimum: 1, description: 'Which of several equal places, from 1.' },
      content: {
        type: 'string',
        maxLength: mcpLimits.contentCharacters,
        description: 'New content. Not for `remove`.',
      },
      format: {
        type: 'string',
        enum: ['markdown', 'text'],
        default: 'markdown',
        description: 'Format of `content`. With `text`, each line is a paragraph.',
      },
    },
  },
} as const

export type GivenEdit = FromSchema<typeof editsInput>[number]

/**
 * Converts the edits of a tool to those of `/v2/crdt/edit`.
 * @throws ToolError
 */
export const toEdits = (given: readonly GivenEdit[], kind: ContentKind): readonly object[] =>
  given.map((edit, index) => toEdit(edit, `/edits/${index}`, kind))

function toEdit(edit: GivenEdit, path: string, kind: ContentKind): object {
  const { action, quote: quoted, heading, content } = edit
  const { target: needsTarget, content: needsContent } = actions[action]
  const isTarget = quoted !== undefined || heading !== undefined
  if (quoted !== undefined && heading !== undefined)
    throw invalidArgument(path, 'must have only one of quote and heading')
  if (needsTarget && !isTarget) throw invalidArgument(path, `needs a quote or a heading for ${action}`)
  if (!needsTarget && isTarget) throw invalidArgument(path, `must have no quote and no heading for ${action}`)
  if (action === 'append_to_section' && heading === undefined)
    throw invalidArgument(path, 'needs a heading for append_to_section')
  if (needsContent !== (content !== undefined))
    throw invalidArgument(
      path,
      needsContent ? `needs content for ${action}` : `must have no content for ${action}`,
    )
  // In a text that is not rich, Markdown is the source itself. A map or an array has no such formats.
  const format = kind === 'json' ? {} : { format: edit.format ?? 'markdown' }
  const target = toTarget(edit)
  if (action === 'remove') return { remove: { target } }
  if (action === 'replace') return { replace: { find: target, with: content, ...format } }
  return { insert: { ...placeOf(action, target), content, ...format } }
}

/** Returns the place of an insertion. */
function placeOf(action: Exclude<GivenEdit['action'], 'remove' | 'replace'>, target: object): object {
  const places = {
    insert_before: { before: target },
    insert_after: { after: target },
    append_to_section: { into: target },
    insert_at_start: { at: 'start' },
    insert_at_end: { at: 'end' },
  }
  return places[action]
}

export function toTarget({
  quote: quoted,
  heading,
  before,
  after,
  occurrence,
}: Pick<GivenEdit, 'quote' | 'heading' | 'before' | 'after' | 'occurrence'>): object {
  return {
    ...(quoted !== undefined && { quote: quoted }),
    ...(heading !== undefined && { heading }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(occurrence !== undefined && { occurrence }),
  }
}
