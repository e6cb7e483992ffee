import { attempt } from '../base/errors.ts'
import { didYouMean } from '../base/text.ts'
import type { Parser } from './option-parsers.ts'

/** A document or a client. The server traces the steps that affect it. */
export type TraceTarget = { readonly text: string } & (
  | {
      readonly kind: 'document'
      readonly organizationId: string
      readonly documentId: string
      /** Id of the editor; null: all editors of the document. */
      readonly editorId: string | null
    }
  | { readonly kind: 'client'; readonly userId: string }
)

const forms = '`document:organization/document`, `document:organization/document/editor` or `client:userId`'
const kinds: readonly string[] = ['document', 'client']
/** Matches the characters that an id cannot contain. */
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/

/** Parses a list such as `document:acme/notes,client:ada`. Each id is percent-encoded, as in a URL. */
export const traceTargets: Parser<readonly TraceTarget[]> = {
  expected: `comma-separated ${forms}, with percent-encoded ids`,
  parse(text) {
    const targets = text.split(',').map((entry) => readTarget(entry.trim()))
    return targets.every((target) => typeof target === 'object') ? targets : undefined
  },
  problem(text) {
    const targets = text.split(',').map((entry) => readTarget(entry.trim()))
    return targets.find((target) => typeof target === 'string') ?? null
  },
}

/**
 * Returns the target that the text specifies. If the text is invalid, returns a sentence that describes the
 * problem.
 */
function readTarget(text: string): TraceTarget | string {
  const shown = JSON.stringify(text.slice(0, 100))
  const end = text.indexOf(':')
  const kind = text.slice(0, Math.max(0, end))
  if (!kinds.includes(kind))
    return `${shown} is not a target of a trace${didYouMean(kind, kinds)}; expected ${forms}`
  const ids = text.slice(end + 1).split('/')
  const [first, second, third = null] = ids.map(decodedId)
  if (ids.map(decodedId).includes(undefined))
    return `${shown} has an id that is empty or not percent-encoded; expected ${forms}`
  if (kind === 'client' && ids.length === 1 && first !== undefined) return { kind, text, userId: first }
  if (kind === 'document' && ids.length <= 3 && first !== undefined && second !== undefined)
    return { kind, text, organizationId: first, documentId: second, editorId: third }
  return `${shown} has ${ids.length} id${ids.length === 1 ? '' : 's'}; expected ${forms}`
}

function decodedId(segment: string): string | undefined {
  const id = attempt(() => decodeURIComponent(segment), '')
  return id === '' || controlCharacter.test(id) ? undefined : id
}
