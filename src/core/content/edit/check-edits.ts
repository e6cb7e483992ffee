import { type ApiError, invalid } from '../../base/errors.ts'
import { type BlockFormat, checkFormatted } from '../blocks/block-format.ts'
import { newXmlBlocks } from '../blocks/xml-blocks.ts'
import { withPlace } from '../content-error.ts'
import { htmlFormat } from '../html/html.ts'
import type { Json } from '../json/json.ts'
import { JsonValidator } from '../json/json-validator.ts'
import { parsePointer } from '../json/pointer.ts'
import { markdownFormat } from '../markdown/markdown.ts'
import { checkProseMirror } from '../prosemirror/prosemirror.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import { checkXml } from '../xml/xml.ts'
import { isRelativePosition } from '../yjs/items.ts'
import type {
  CheckedEdit,
  EditTarget,
  GivenContent,
  InsertedContent,
  InsertPlace,
  NodeContent,
} from './edit.ts'
import { checkPatch } from './patch/check-patch.ts'
import { editExample } from './right-form.ts'

/** A target in a request: a quote as a string, or an object with exactly one of the members that name it. */
export type TargetRequest =
  | string
  | {
      readonly quote?: string
      readonly before?: string
      readonly after?: string
      readonly occurrence?: number
      readonly acrossBlocks?: boolean
      readonly heading?: string
      readonly row?: string
      readonly attribute?: Readonly<Record<string, unknown>>
      readonly block?: number
      readonly path?: string
      /** Relative positions in base64, as in the anchor of an annotation. */
      readonly anchor?: { readonly position: string; readonly positionEnd?: string }
    }

/** An edit in a request: an object with exactly one of these members. */
export interface EditRequest {
  readonly replace?: {
    readonly find: TargetRequest
    readonly with: unknown
    readonly format?: string
    readonly occurrence?: number
  }
  readonly insert?: {
    readonly before?: TargetRequest
    readonly after?: TargetRequest
    readonly into?: TargetRequest
    readonly at?: string
    readonly content: unknown
    readonly format?: string
  }
  readonly remove?: { readonly target: TargetRequest }
  readonly mark?: { readonly find: TargetRequest; readonly name: string; readonly value: unknown }
  readonly attributes?: { readonly target: TargetRequest; readonly set: Readonly<Record<string, unknown>> }
  readonly patch?: readonly unknown[]
  readonly text?: { readonly index: number; readonly delete?: number; readonly insert?: string }
}

/**
 * Runs all checks of edits that need no document.
 * @throws ApiError INVALID_ARGUMENT with the index of the edit and the problem
 */
export const checkEdits = (requests: readonly EditRequest[]): readonly CheckedEdit[] =>
  requests.map((request, index) => checkEdit(request, editName(index)))

/** Returns how messages name the edit with this index. */
export const editName = (index: number): string => `edits[${index}]`

const editNames = ['replace', 'insert', 'remove', 'mark', 'attributes', 'patch', 'text'] as const

/**
 * Runs the checks of `checkEdits` for one edit.
 * @param place how messages name the edit
 * @throws ApiError INVALID_ARGUMENT
 */
export function checkEdit(request: EditRequest, place: string): CheckedEdit {
  const name = only(request, editNames, place, `; for example ${editExample('replace')}`)
  const at = `${place}.${name}`
  const { replace, insert, remove, mark, attributes, patch, text } = request
  if (replace !== undefined) {
    const target = checkEditTarget(replace.find, `${at}.find`, replace.occurrence)
    return { is: 'replace', target, content: checkEditContent(replace.with, replace.format, `${at}.with`) }
  }
  if (insert !== undefined) {
    const place = insertPlaceOf(insert, at)
    return { is: 'insert', place, content: checkEditContent(insert.content, insert.format, `${at}.content`) }
  }
  if (remove !== undefined) return { is: 'remove', target: checkEditTarget(remove.target, `${at}.target`) }
  if (mark !== undefined) {
    const target = checkEditTarget(mark.find, `${at}.find`)
    return { is: 'mark', target, name: nameOf(mark.name, `${at}.name`), value: jsonOf(mark.value) }
  }
  if (attributes !== undefined) {
    const set = Object.entries(attributes.set).map(
      ([name, value]) => [nameOf(name, `${at}.set`), jsonOf(value)] as const,
    )
    if (set.length === 0) throw invalidEdit(`${at}.set must have at least one attribute`)
    return { is: 'attributes', target: checkEditTarget(attributes.target, `${at}.target`), set: new Map(set) }
  }
  if (patch !== undefined) return { is: 'patch', operations: checkPatch(patch, at) }
  const { index = 0, delete: deletions = 0, insert: insertion = '' } = text ?? {}
  return { is: 'text', index, deletions, insertion: insertion.toWellFormed() }
}

const targetNames = ['quote', 'heading', 'row', 'attribute', 'block', 'path', 'anchor'] as const

/**
 * Runs all checks of a target that need no document.
 * @param place how messages name the target
 * @param occurrence the occurrence that the edit states, unless the target states it
 * @throws ApiError INVALID_ARGUMENT
 */
export function checkEditTarget(request: TargetRequest, place: string, occurrence?: number): EditTarget {
  if (typeof request === 'string') return checkEditTarget({ quote: request }, place, occurrence)
  const name = only(request, targetNames, place)
  const { quote, heading, row, attribute, block, path, anchor } = request
  const which = request.occurrence ?? occurrence ?? null
  if (name !== 'quote' && name !== 'heading' && name !== 'row' && which !== null)
    throw invalidEdit(
      `${place}: occurrence needs quote, heading or row; use one of them, or remove occurrence`,
    )
  if (name !== 'quote') {
    const unused = (['before', 'after', 'acrossBlocks'] as const).find((key) => request[key] !== undefined)
    if (unused !== undefined)
      throw invalidEdit(`${place}: ${unused} needs quote; use quote, or remove ${unused}`)
  }
  if (quote !== undefined) {
    if (quote.trim() === '') throw invalidEdit(`${place}.quote must contain more than white space`)
    const { before = '', after = '', acrossBlocks = false } = request
    return { is: 'quote', quote, before, after, occurrence: which, acrossBlocks }
  }
  if (heading !== undefined) return { is: 'heading', text: heading, occurrence: which }
  if (row !== undefined) return { is: 'row', text: row, occurrence: which }
  if (attribute !== undefined) {
    const [entry, ...others] = Object.entries(attribute)
    if (entry === undefined || others.length > 0)
      throw invalidEdit(`${place}.attribute must have exactly one member: the name and the value`)
    return { is: 'attribute', name: entry[0], value: jsonOf(entry[1]) }
  }
  if (block !== undefined) return { is: 'block', index: block }
  if (path !== undefined) {
    const tokens = parsePointer(path)
    if (tokens === null)
      throw invalidEdit(`${place}.path must be a JSON pointer (RFC 6901): "", or "/" before each key`)
    return { is: 'path', path: tokens }
  }
  const { position = '', positionEnd = position } = anchor ?? {}
  return {
    is: 'anchor',
    start: positionOf(position, `${place}.anchor.position`),
    end: positionOf(positionEnd, `${place}.anchor.positionEnd`),
  }
}

function insertPlaceOf(insert: NonNullable<EditRequest['insert']>, place: string): InsertPlace {
  const name = only(insert, ['before', 'after', 'into', 'at'], place)
  if (name === 'at') return { at: insert.at === 'start' ? 'start' : 'end' }
  return { at: name, target: checkEditTarget(insert[name] ?? '', `${place}.${name}`) }
}

/** Checks the content of an edit. @param place how messages name the content @throws ApiError INVALID_ARGUMENT */
export function checkEditContent(content: unknown, format: string, place: string): InsertedContent
export function checkEditContent(content: unknown, format: string | undefined, place: string): GivenContent
export function checkEditContent(content: unknown, format: string | undefined, place: string): GivenContent {
  return withPlace(place, () => contentIn(content, format, place))
}

function contentIn(content: unknown, format: string | undefined, place: string): GivenContent {
  if (format === undefined) {
    if (typeof content !== 'string') return { format: 'value', value: jsonOf(content) }
    const asMarkdown = (): NodeContent => blockContent(markdownFormat, content)
    return { format: 'default', text: content.toWellFormed(), asMarkdown }
  }
  if (format === 'prosemirror') return nodes(checkProseMirror(content))
  if (typeof content !== 'string') throw invalidEdit(`${place} must be a string for the format "${format}"`)
  if (format === 'xml') return nodes(checkXml(content))
  if (format !== 'markdown' && format !== 'html') return { format: 'text', text: content.toWellFormed() }
  return blockContent(format === 'html' ? htmlFormat : markdownFormat, content)
}

/** Returns a text in a format of blocks as content of an edit. @throws ApiError INVALID_ARGUMENT */
export function blockContent(format: BlockFormat, content: string): NodeContent {
  const length = { start: content.length - content.trimStart().length, end: content.trimEnd().length }
  const around = { start: spaceIn(content.slice(0, length.start)), end: spaceIn(content.slice(length.end)) }
  const target = checkFormatted(format, content)
  return { ...nodes(newXmlBlocks(target)), source: target, around }
}

/** Returns the space that white space stands for; '' if it is empty or has a line break. */
const spaceIn = (blank: string): string => (blank === '' || blank.includes('\n') ? '' : ' ')

const nodes = (target: TargetTree): NodeContent => ({
  format: 'nodes',
  ...target,
  source: null,
  around: null,
})

function positionOf(encoded: string, place: string): Uint8Array {
  const bytes = Buffer.from(encoded, 'base64')
  if (isRelativePosition(bytes)) return bytes
  throw invalidEdit(
    `${place} must be a Yjs relative position, encoded with Y.encodeRelativePosition and base64`,
  )
}

const nameLengthMax = 200

function nameOf(name: string, place: string): string {
  if (name === '' || name.length > nameLengthMax || !name.isWellFormed())
    throw invalidEdit(`${place}: a name must have 1 to ${nameLengthMax} characters of well-formed Unicode`)
  return name
}

const jsonOf = (value: unknown): Json => new JsonValidator().read(value)

/** Returns the only one of `names` that the object has. */
function only<Name extends string>(
  object: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
  place: string,
  example = '',
): Name {
  const [name, ...others] = names.filter((each) => object[each] !== undefined)
  if (name === undefined || others.length > 0)
    throw invalidEdit(`${place} must have exactly one of ${names.join(', ')}${example}`)
  return name
}

const invalidEdit = (problem: string): ApiError => invalid('crdt/invalid-edit', problem)
