import { type Json, toJson } from '../../json/json.ts'
import {
  AttributeCursor,
  type AttributeRun,
  type PlainTextState,
  readTextState,
} from '../../text/text-state.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { WorkLimit } from '../work-limit.ts'
import {
  blockAt,
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
export function readLineView(root: SharedRoot, work = new WorkLimit()): LineFlowView {
  const state = readTextState(root)
  const { text, runs } = state
  const source = { type: root, state }
  const offsetAt = offsetsOf(state)
  let lines: readonly TextBlock[] | null = null
  let foundLines = 0
  const blocks = (): readonly TextBlock[] => {
    if (lines === null) work.spend(text.length * stepsPerUnit)
    lines ??= linesOf(state)
    return lines
  }
  return {
    source,
    flows: [{ text, pieces: [{ start: 0, length: text.length, source, from: 0 }] }],
    get blocks() {
      return blocks()
    },
    work,
    blockNear: (flow, offset) => {
      foundLines += 1
      if (lines === null && foundLines <= foundLinesMax) return lineNear(state, offset)
      return blocks()[blockAt({ blocks: blocks() }, flow, offset)]
    },
    attributesOf: ({ end }) => (end < text.length ? attributesAt(runs, end) : {}),
    nodesWith: (name) => linesWith(state, blocks(), name),
    locate: (type, index) => (type === root ? { flow: 0, offset: offsetAt(index) } : null),
  }
}

/** Maximum number of lines that are found before the text is divided into lines. */
const foundLinesMax = 16

/** Steps that dividing a text into lines takes for each UTF-16 unit. */
const stepsPerUnit = 0.2

function linesOf({ text, runs }: PlainTextState): readonly TextBlock[] {
  const lines: TextBlock[] = []
  const levels = new AttributeValues(runs, headingAttribute)
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    lines.push({ flow: 0, start, end, level: found === -1 ? null : levelOf(levels.at(end)), type: null })
    start = end + 1
  }
  return lines
}

/** Returns the line that contains an offset, or the last line; undefined if there are no lines. */
function lineNear({ text, runs }: PlainTextState, offset: number): TextBlock | undefined {
  if (text === '') return undefined
  // After the last line break, there is a line only if it has text.
  const last = Math.min(offset, text.length - 1)
  const start = last === 0 ? 0 : text.lastIndexOf('\n', last - 1) + 1
  const found = text.indexOf('\n', start)
  const end = found === -1 ? text.length : found
  return {
    flow: 0,
    start,
    end,
    get level() {
      return found === -1 ? null : levelOf(new AttributeValues(runs, headingAttribute).at(end))
    },
    type: null,
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
function attributesAt(runs: readonly AttributeRun[], offset: number): Record<string, Json> {
  const attributes = Object.entries(new AttributeCursor(runs).at(offset))
  return Object.fromEntries(attributes.map(([key, value]) => [key, toJson(value) ?? null]))
}
