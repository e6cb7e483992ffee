import type { ClusterCosts, Inputs } from './inputs.ts'

/** Ratio above which a cost counts as growing with the number of nodes. */
export const ratioMax = 1.25

/** A value that the sheet uses, measured in the same way with few and with many nodes. */
export interface Check {
  readonly name: string
  readonly few: number
  readonly many: number
}

/** Returns the ratio of the values; null if the noise of the measurement is larger than one of them. */
export const ratioOf = ({ few, many }: Check): number | null => (few > 0 && many > 0 ? many / few : null)

/** Returns whether a value grows with the number of nodes. */
export const grows = (check: Check): boolean => (ratioOf(check) ?? 0) > ratioMax

type Value = readonly [name: string, of: (costs: ClusterCosts) => number]

/** Values that the sheet takes from many nodes. */
const values: readonly Value[] = [
  ['CPU of the node of the writer for each update', ({ units }) => units.update.writing],
  ['CPU of the node of each reader', ({ units }) => units.update.reading],
  ['CPU of PostgreSQL for each update', ({ units }) => units.update.postgres],
  ['CPU of a node to open a document that no node has open', ({ idle }) => idle.first.node],
  ['CPU of all nodes to open a document that another node has open', ({ idle }) => idle.elsewhere.node],
  ['CPU of a node to connect a client to a document that it has open', ({ idle }) => idle.further.node],
  ['CPU of PostgreSQL to open a document that no node has open', ({ idle }) => idle.first.postgres],
  ['CPU of a node without clients, per second', ({ units }) => units.empty.node],
  ['CPU of PostgreSQL for it, per second', ({ units }) => units.empty.postgres],
  ['CPU of a node for an open document without edits, per second', ({ units }) => units.idle.node],
  ['CPU of PostgreSQL for it, per second', ({ units }) => units.idle.postgres],
  ['CPU of the node of a user who moves a cursor', ({ units }) => units.cursor.moving],
  ['CPU of the node of each user who sees it', ({ units }) => units.cursor.showing],
  ['CPU of all nodes for a small text written by REST', ({ units }) => units.write.node],
  ['CPU of PostgreSQL for it', ({ units }) => units.write.postgres],
  ['CPU of all nodes for a page of 100 documents by REST', ({ units }) => units.page.node],
]

/** Returns the comparison of the values with few and with many nodes. */
export const checksOf = ({ few, many }: Inputs): readonly Check[] =>
  values.map(([name, of]) => ({ name, few: of(few), many: of(many) }))
