import { editFormats } from '../../../core/content/edit/edit-formats.ts'
import type { DiffPart } from '../diff/diff-part.ts'
import type { EditableContent } from './content-text.ts'

/** Actions of the form. All of them are edits of `/v2/crdt/edit`. */
export const editActions = [
  ['replace', 'Replace text'],
  ['section', 'Add to a section'],
  ['start', 'Insert at the start'],
  ['end', 'Insert at the end'],
] as const

type EditAction = (typeof editActions)[number][0]

/** One edit, as the user has entered it. */
export interface EditDraft {
  readonly action: EditAction
  /** The text to replace, or the heading of the section. */
  readonly find: string
  readonly content: string
  readonly format: string
  /** The place that the user has selected among several; null: there must be exactly one. */
  readonly selected: SelectedPlace | null
}

interface SelectedPlace {
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly occurrence?: number
}

/** Returns the formats in which the user can write the content of an edit. */
export const formatsFor = (type: string): readonly string[] =>
  editFormats.filter((format) => format === 'text' || (type === 'xml' && format !== 'prosemirror'))

/** Returns a new draft for content of this type. Rich text is written in Markdown if the server supports it. */
export const newEditDraft = (type: string): EditDraft => ({
  action: 'replace',
  find: '',
  content: '',
  format: formatsFor(type).includes('markdown') ? 'markdown' : 'text',
  selected: null,
})

/** Returns whether content is a text that is not empty. */
export const isEditable = ({ type, data }: Pick<EditableContent, 'type' | 'data'>): boolean =>
  ['text', 'xml', 'xmltext'].includes(type) && data !== ''

/** Converts a draft to an edit of the request. */
export function toEdit({ action, find, content, format, selected }: EditDraft): object {
  if (action === 'replace') return { replace: { find: { quote: find, ...selected }, with: content, format } }
  const place = action === 'section' ? { into: { heading: find, ...selected } } : { at: action }
  return { insert: { ...place, content, format } }
}

/** A place in the document, as the server describes it. */
export interface EditPlace {
  readonly quote?: string
  readonly before?: string
  readonly after?: string
}

/** A target that the server did not find exactly once. */
interface TargetProblem {
  /** Index of the edit. */
  readonly edit: number
  readonly candidates: readonly EditPlace[]
  /** Whether the candidates are the places of the target itself, and not similar places. */
  readonly isAmbiguous: boolean
}

/** Returns the problem that the details of an error describe; null for all other errors. */
export function targetProblemOf(details: unknown): TargetProblem | null {
  const { edit, candidates, code } = (details ?? {}) as Readonly<Record<string, unknown>>
  if (typeof edit !== 'number' || !Array.isArray(candidates)) return null
  return { edit, candidates, isAmbiguous: code === 'crdt/target-ambiguous' }
}

/** Returns the draft with the candidate at `index` as its target. */
export function withCandidate(draft: EditDraft, problem: TargetProblem, index: number): EditDraft {
  const { candidates, isAmbiguous } = problem
  const { quote = '', before, after } = candidates[index] ?? {}
  // The server shortens long quotes.
  const find = isAmbiguous || draft.find.startsWith(quote) ? draft.find : quote
  const matches = candidates.filter((other) => hasContext(other, before, after)).length
  const needsNumber = isAmbiguous && (draft.action === 'section' || matches > 1)
  return {
    ...draft,
    find,
    selected: needsNumber ? { ...draft.selected, occurrence: index + 1 } : { before, after },
  }
}

/** Returns whether a place has this text before and after it. */
const hasContext = (place: EditPlace, before = '', after = ''): boolean =>
  (place.before ?? '').endsWith(before) && (place.after ?? '').startsWith(after)

/** The effect of one edit, as the server describes it. */
export interface DraftOutcome {
  readonly place: EditPlace
  readonly changed: boolean
}

/**
 * Returns the parts of the comparison for one edit: the text around the matched place, the removed text, and
 * the new text.
 */
export function partsOfEdit(
  { action, content, find }: EditDraft,
  result: DraftOutcome | undefined,
): DiffPart[] {
  const { quote = '', before = '', after = '' } = result?.place ?? {}
  const added = { kind: 'added', text: content } as const
  const same = (text: string) => ({ kind: 'same', text }) as const
  if (result?.changed !== true) return [same(before + quote + after)]
  if (action === 'start') return [added, same('\n…')]
  if (action !== 'replace') return [same(`${before}${quote}${after}\n…\n`), added]
  const removed = { kind: 'removed', text: quote.length < find.length ? `${quote}…` : quote } as const
  return [same(before), removed, ...(content === '' ? [] : [added]), same(after)]
}
