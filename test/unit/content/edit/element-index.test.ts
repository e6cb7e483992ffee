import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { EditRequest } from '../../../../src/core/content/edit/check-edits.ts'
import { ElementIndex } from '../../../../src/core/content/edit/targets/element-index.ts'
import { readXmlView } from '../../../../src/core/content/edit/targets/xml-view.ts'
import { WorkLimit } from '../../../../src/core/content/edit/work-limit.ts'
import { checkChange } from '../../../../src/core/content/root-change.ts'
import { checkRepresentable } from '../../../../src/core/content/unsupported-content.ts'
import { rootKind } from '../../../../src/core/content/yjs/root-kind.ts'
import { skipObservers } from '../../../../src/core/update/integration.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded } from '../support.ts'
import { element, richKey, text } from '../xml-support.ts'

const names = ['paragraph', 'heading', 'hardBreak', 'image', 'list', 'item', 'h2'] as const
const words = ['one', 'two', 'three', '', 'e\u0301', 'four five'] as const

/** Numbers of paragraphs at the start: in a large root, an index reads only the changed children again. */
const sizes = [0, 3, 300] as const

function randomNode(random: Random, depth = 0): Y.XmlElement | Y.XmlText {
  if (random.once(3)) return text([random.pick(words)])
  const children = Array.from({ length: depth > 2 ? 0 : random.below(3) }, () =>
    randomNode(random, depth + 1),
  )
  const attributes = random.once(3) ? { id: random.pick(words), level: random.below(3) } : {}
  return element(random.pick(names), children, attributes)
}

/** Returns a random element or text that is in a root, or the root. */
function randomType(random: Random, root: Y.XmlFragment): Y.XmlFragment | Y.XmlElement | Y.XmlText {
  let type: Y.XmlFragment | Y.XmlElement | Y.XmlText = root
  while (!(type instanceof Y.XmlText) && type.length > 0 && !random.once(4)) {
    const child: unknown = type.get(random.below(type.length))
    if (!(child instanceof Y.XmlElement || child instanceof Y.XmlText)) break
    type = child
  }
  return type
}

/** Adds content that XML cannot express, in a few cases. */
function changeOddly(random: Random, type: Y.XmlText): void {
  const way = random.below(8)
  if (way === 0) type.insertEmbed(0, { image: 'x' })
  else if (way === 1) type.setAttribute('odd', 'value')
}

/** Makes a change as an editor does. */
function change(random: Random, root: Y.XmlFragment): void {
  const type = randomType(random, root)
  const at = random.below(type.length + 1)
  const length = Math.min(type.length - at, 1 + random.below(random.once(5) ? 80 : 3))
  const way = random.below(8)
  if (type instanceof Y.XmlText) {
    if (way < 4) type.insert(at, random.pick(words) || 'x')
    else if (way < 6) type.delete(at, length)
    else if (way < 7) type.format(at, length, { bold: random.pick([{}, null]) })
    else changeOddly(random, type)
    return
  }
  if (way < 4)
    type.insert(
      at,
      Array.from({ length: 1 + random.below(3) }, () => randomNode(random)),
    )
  else if (way < 7) type.delete(at, length)
  else if (type instanceof Y.XmlElement && random.once(2)) type.removeAttribute('id')
  else if (type instanceof Y.XmlElement) type.setAttribute('id', random.pick(words))
}

const edits: readonly ((random: Random) => EditRequest)[] = [
  (random) => ({ replace: { find: random.pick(words) || 'x', with: 'new', format: 'text' } }),
  (random) => ({ replace: { find: { block: random.below(5) }, with: 'new text', format: 'text' } }),
  (random) => ({ insert: { after: { heading: random.pick(words) || 'x' }, content: 'after **it**' } }),
  (random) => ({ insert: { before: { block: random.below(400) }, content: 'a block', format: 'text' } }),
  (random) => ({ remove: { target: { block: random.below(400) } } }),
  (random) => ({ remove: { target: { attribute: { id: random.pick(words) } } } }),
  (random) => ({ attributes: { target: { block: random.below(5) }, set: { id: 'two' } } }),
  () => ({ insert: { at: 'end', content: 'the end' } }),
]

/** A document of a server with an index that is kept, and the document of an editor. */
class Session {
  readonly #random: Random
  readonly #server = new Y.Doc()
  readonly #client = new Y.Doc()
  #index: ElementIndex | null = null

  constructor(random: Random) {
    this.#random = random
    const root = this.#client.getXmlFragment(richKey)
    this.#client.on('update', (update: Uint8Array) => Y.applyUpdate(this.#server, update))
    skipObservers(this.#server, (transaction) => this.#index?.changed(transaction))
    const size = random.pick(sizes)
    const paragraphs = Array.from({ length: size }, (_, at) => element('paragraph', [text([`p${at}`])]))
    root.insert(0, [...paragraphs, randomNode(random)])
    this.#index = new ElementIndex(this.#server.get(richKey), true)
  }

  step(): void {
    const random = this.#random
    if (random.once(3)) this.#index?.prepare(1 + random.below(50))
    if (random.once(3)) this.#edit()
    else {
      const root = this.#client.getXmlFragment(richKey)
      this.#client.transact(() => {
        for (let count = 1 + random.below(3); count > 0; count--) change(random, root)
      })
    }
    if (random.once(2)) this.#compare()
  }

  /** Makes an edit in the document of the server, and in a copy whose edit reads the whole root. */
  #edit(): void {
    const made = checkChange({ contentKey: richKey, edits: [this.#random.pick(edits)(this.#random)] })
    const copy = loaded(this.#server)
    const index = this.#index ?? undefined
    const outcomes = [() => made.apply(copy), () => made.apply(this.#server, { index })].map((apply) => {
      try {
        return apply()
      } catch (error) {
        return error
      }
    })
    expect(outcomes[1]).toEqual(outcomes[0])
    expect(this.#server.get(richKey).toJSON()).toEqual(copy.get(richKey).toJSON())
    Y.applyUpdate(this.#client, Y.encodeStateAsUpdate(this.#server))
  }

  #compare(): void {
    const index = this.#index as ElementIndex
    const root = this.#server.get(richKey)
    expect(index.read()).toBe(true)
    if (!index.isRegular()) return
    expect(rootKind(this.#server, richKey)).toBe('xml')
    checkRepresentable(this.#server, richKey, 'xml')
    expect(shown(readXmlView(root, new WorkLimit(), index))).toEqual(shown(readXmlView(root)))
  }
}

const shown = (view: ReturnType<typeof readXmlView>): unknown => ({
  blocks: view.blocks.map(({ flow, start, end, level, type }) => ({
    flow,
    start,
    end,
    level,
    id: type?._item?.id,
  })),
  flows: view.flows.map(({ text, pieces }) => ({
    text,
    pieces: pieces.map((piece) => [piece.start, piece.length, piece.source === null && piece.isKept]),
  })),
  names: [view.paragraphName, [...view.inlineNames].sort()],
  nodes: [...view.nodesWith('id')].map(({ node, block, value }) => [
    node?.firstBlock,
    node?.endBlock,
    node?.inline,
    block,
    value,
  ]),
})

test(`[EDIT-9] edits with an index that is kept as without one, while editors change the root (seed ${seed})`, () => {
  const random = new Random(seed)
  for (let run = 0; run < times(40, 1_000); run++) {
    const session = new Session(random)
    for (let step = 0; step < 40; step++) session.step()
  }
})
