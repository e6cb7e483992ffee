import * as Y from 'yjs'
import type { Judge, Seat } from './third-party-editor.ts'

interface Values {
  readonly id: string
  readonly [name: string]: unknown
}
interface Board {
  readonly nodes: readonly Values[]
  readonly edges: readonly Values[]
}

const own = 'board'

/** The common part of boards: they change shared values in transactions of their own, and undo those. */
function seat(
  doc: Y.Doc,
  root: Y.Map<unknown> | Y.Array<Y.Map<unknown>>,
  acts: Pick<Seat, 'write' | 'type'>,
): Seat {
  const undos = new Y.UndoManager(root, { trackedOrigins: new Set([own]) })
  return {
    write: (content) => doc.transact(() => acts.write(content), own),
    shown: () => root.toJSON() as unknown,
    type: (text) => doc.transact(() => acts.type(text), own),
    undo: () => undos.undo(),
    redo: () => undos.redo(),
    close: () => undos.destroy(),
  }
}

/** Nodes are shared maps with a shared text, edges plain objects, and the order of both an array of ids. */
function openBoard(doc: Y.Doc): Seat {
  const root = doc.getMap<unknown>('board')
  const write = (content: unknown): void => {
    const { nodes, edges } = content as Board
    root.clear()
    root.set('nodes', new Y.Map(nodes.map((node) => [node.id, sharedNode(node)])))
    root.set('edges', new Y.Map(edges.map((edge) => [edge.id, edge])))
    root.set('order', Y.Array.from(nodes.map(({ id }) => id)))
  }
  const type = (text: string): void => {
    const nodes = root.get('nodes') as Y.Map<Y.Map<unknown>>
    const [first] = nodes.values()
    const label = first?.get('label') as Y.Text
    label.insert(0, text)
    first?.set('position', { x: 99, y: 99 })
  }
  return seat(doc, root, { write, type })
}

function sharedNode({ label, tags, ...plain }: Values): Y.Map<unknown> {
  const made = new Y.Map<unknown>(Object.entries(plain))
  made.set('label', new Y.Text(label as string))
  made.set('tags', Y.Array.from(tags as string[]))
  return made
}

/** A list of cards in order, each a shared map. */
function openList(doc: Y.Doc): Seat {
  const root = doc.getArray<Y.Map<unknown>>('list')
  const write = (content: unknown): void => {
    root.delete(0, root.length)
    root.push((content as Values[]).map((card) => new Y.Map(Object.entries(card))))
  }
  return seat(doc, root, { write, type: (text) => root.insert(0, [new Y.Map([['id', text]])]) })
}

const node = (id: string, label: string, x: number, more: object = {}): Values => ({
  id,
  type: 'default',
  position: { x, y: -0.5 },
  label,
  tags: ['a', 'b'],
  ...more,
})

const flow: Board = {
  nodes: [
    node('1', 'Start 🏁', 0, { data: { colour: null, size: [10, 20], nested: { deep: [true] } } }),
    node('2', '', 100.25, { selected: false }),
    node('3', 'End', 1e21),
  ],
  edges: [
    { id: 'e1-2', source: '1', target: '2', animated: true },
    { id: 'e2-3', source: '2', target: '3', style: { stroke: '#f00' } },
  ],
}
const smaller: Board = {
  nodes: [node('1', 'Begin', 5), node('4', 'New', 7)],
  edges: [{ id: 'e1-4', source: '1', target: '4', animated: false }],
}

/** A board like those of React Flow. */
export const board: Judge = {
  type: 'map',
  contentKey: 'board',
  contents: [flow, smaller, { nodes: [], edges: [] }],
  parts: [...flow.nodes, ...smaller.nodes],
  madeOf: (nodes) => ({ nodes, edges: smaller.edges }),
  edits: [
    ['Start', 'Go'],
    ['End', 'Stop'],
    ['e2-3', 'e2-4'],
  ],
  open: openBoard,
}

/** A list of cards. */
export const list: Judge = {
  type: 'array',
  contentKey: 'list',
  contents: [flow.nodes, smaller.nodes, []],
  parts: [...flow.nodes, ...smaller.nodes],
  madeOf: (parts) => parts,
  edits: [
    ['Start', 'Go'],
    ['End', 'Stop'],
  ],
  open: openList,
}
