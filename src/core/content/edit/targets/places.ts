import { shortened } from '../../../base/text.ts'
import { jsonBytesUpTo } from '../../../model/json-pieces.ts'
import type { Json } from '../../json/json.ts'
import type { MatchedPlace } from '../edit.ts'
import type { FlowView, TextBlock, TextFlow, TextRange } from './flow-view.ts'

/** Maximum number of UTF-16 units of a quote in a response. */
export const shownQuoteMax = 80

/** Maximum number of UTF-16 units of the context on each side of a quote in a response. */
const contextMax = 40

/**
 * Maximum number of bytes of the attributes in one description, as JSON. Larger attributes are omitted. A
 * response can have a thousand descriptions of one node.
 */
const attributesBytesMax = 1_000

/** A quote with its context, as a target has them. */
export interface ShownQuote extends Pick<MatchedPlace, 'before' | 'after'> {
  readonly quote: string
}

/** Returns the description of a range for a response or an error. */
export function placeOf(view: FlowView, range: TextRange): MatchedPlace {
  const { flow, start } = range
  const block = view.blockNear(flow, start)
  const attributes = block?.flow === flow ? smallOf(view.attributesOf(block)) : {}
  return {
    ...quoteIn(view, range),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  }
}

/** Returns the text of a range, and the text around it in its block. */
export function quoteIn(view: FlowView, { flow, start, end }: TextRange): ShownQuote {
  const { text } = view.flows[flow] as TextFlow
  const block = view.blockNear(flow, start)
  const [blockStart, blockEnd] = rangeAround(block, flow, start, end, text)
  return {
    quote: text.slice(start, Math.min(end, start + shownQuoteMax)).toWellFormed(),
    ...unlessEmpty('before', text.slice(Math.max(blockStart, start - contextMax), start)),
    ...unlessEmpty('after', text.slice(end, Math.min(blockEnd, end + contextMax))),
  }
}

/** Returns the first attributes that have at most the maximum size together. */
function smallOf(attributes: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const small: [string, Json][] = []
  let bytesLeft = attributesBytesMax
  for (const entry of Object.entries(attributes)) {
    const bytes = jsonBytesUpTo(entry, bytesLeft)
    if (bytes > bytesLeft) continue
    bytesLeft -= bytes
    small.push(entry)
  }
  return Object.fromEntries(small)
}

function rangeAround(
  block: TextBlock | undefined,
  flow: number,
  start: number,
  end: number,
  text: string,
): readonly [number, number] {
  if (block?.flow !== flow || block.end < start) return [start, end]
  if (block.end >= end) return [block.start, block.end]
  const lineEnd = text.indexOf('\n', end)
  return [block.start, lineEnd === -1 ? text.length : lineEnd]
}

const unlessEmpty = (name: 'before' | 'after', text: string): Omit<ShownQuote, 'quote'> =>
  text === '' ? {} : { [name]: text.toWellFormed() }

/** Maximum number of UTF-16 units of a text in a message. */
const shownMax = 60

/** Returns a text in quotes for a message. */
export const shownText = (text: string): string => JSON.stringify(shortened(text.toWellFormed(), shownMax))
