import { type Json, toJson } from '../../json/json.ts'
import { type AttributeRun, type PlainTextState, readTextState } from '../../text/text-state.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type FlowView,
  type NodeWithAttribute,
  offsetsOf,
  type TextBlock,
  type TextSource,
} from './flow-view.ts'

/** Attribute of the line breaks of headings in Quill. */
const headingAttribute = 'header'

/** A text root as one flow whose blocks are its lines. */
export interface LineFlowView extends FlowView {
  readonly source: TextSource
}

/** Reads a text root. A line ends with its line break. Text after the last line break is a line if there is any. */
export function readLineView(root: SharedRoot): LineFlowView {
  const state = readTextState(root)
  const { text, runs } = state
  const source = { type: root, state }
  const blocks: TextBlock[] = []
  const levels = new AttributeValues(runs, headingAttribute)
  const offsetAt = offsetsOf(state)
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    blocks.push({ flow: 0, start, end, level: found === -1 ? null : levelOf(levels.at(end)), type: null })
    start = end + 1
  }
  return {
    source,
    flows: [{ text, pieces: [{ start: 0, length: text.length, source, from: 0 }] }],
    blocks,
    attributesOf: ({ end }) => (end < text.length ? attributesAt(runs, end) : {}),
    nodesWith: (name) => linesWith(state, blocks, name),
    locate: (type, index) => (type === root ? { flow: 0, offset: offsetAt(index) } : null),
  }
}

function* linesWith(
  { text, runs }: PlainTextState,
  blocks: readonly TextBlock[],
  name: string,
): Generator<NodeWithAttribute> {
  const values = new AttributeValues(runs, name)
  for (const [block, { end }] of blocks.entries()) {
    const value = end < text.length ? toJson(values.at(end)) : null
    if (value !== undefined && value !== null) yield { node: null, block, value }
  }
}

const levelOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Returns the value of one attribute at offsets, which must ascend. */
class AttributeValues {
  readonly #runs: readonly AttributeRun[]
  readonly #name: string
  #next = 0
  #value: unknown = null

  constructor(runs: readonly AttributeRun[], name: string) {
    this.#runs = runs
    this.#name = name
  }

  at(offset: number): unknown {
    for (let run = this.#runs[this.#next]; run !== undefined && run.start <= offset; ) {
      for (const [key, value] of run.changes) if (key === this.#name) this.#value = value
      this.#next += 1
      run = this.#runs[this.#next]
    }
    return this.#value
  }
}

/** Returns the formatting attributes of the character at `offset`. */
export function attributesAt(runs: readonly AttributeRun[], offset: number): Record<string, Json> {
  const attributes = new Map<string, unknown>()
  for (const { start, changes } of runs) {
    if (start > offset) break
    for (const [key, value] of changes) {
      if (value === null) attributes.delete(key)
      else attributes.set(key, value)
    }
  }
  return Object.fromEntries([...attributes].map(([key, value]) => [key, toJson(value) ?? null]))
}
