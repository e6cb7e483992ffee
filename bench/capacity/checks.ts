import { bucketCount } from '../../src/core/store/buckets.ts'
import type { UnitLoad } from '../cluster/unit-costs.ts'
import type { ClusterCosts, Inputs } from './inputs.ts'

/** Ratio above which a cost counts as growing with the number of nodes. */
export const ratioMax = 1.25

/** A value that the sheet uses, measured in the same way with few and with many nodes. */
export interface Check {
  readonly name: string
  readonly few: number
  readonly many: number
  readonly unit: 'µs' | 'messages'
}

/** Returns the share of all messages that a node receives if it has this number of documents open. */
export const shareWith = (documents: number): number => 1 - (1 - 1 / bucketCount) ** documents

/** Returns the ratio of the values; null if the noise of the measurement is larger than one of them. */
export const ratioOf = ({ few, many }: Check): number | null => (few > 0 && many > 0 ? many / few : null)

/** Returns whether a value grows with the number of nodes. */
export const grows = (check: Check): boolean => (ratioOf(check) ?? 0) > ratioMax

/** Returns the factor by which a cost of few nodes must be multiplied: 1 if the ratio is small. */
const growthOf = (check: Check): number => (grows(check) ? check.many / check.few : 1)

type Value = readonly [name: string, of: (costs: ClusterCosts) => number]

/** Costs for which the sheet uses a value that was measured with few nodes, multiplied by `growthOf`. */
const constants = {
  receive: ['CPU of a node for each message that it does not need', ({ heard }) => heard.node],
  deliver: ['CPU of NATS for each delivered message', ({ heard }) => heard.nats],
} satisfies Record<string, Value>

/** Values that the sheet takes from many nodes. */
const others: readonly Value[] = [
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

const checkOf = ({ few, many }: Inputs, [name, of]: Value, unit: Check['unit'] = 'µs'): Check => ({
  name,
  unit,
  few: of(few),
  many: of(many),
})

/** Returns the factors by which the sheet multiplies costs that were measured with few nodes. */
export function growths(inputs: Inputs): Readonly<Record<keyof typeof constants, number>> {
  const growth = (value: Value): number => growthOf(checkOf(inputs, value))
  const { receive, deliver } = constants
  return {
    receive: growth(receive),
    deliver: growth(deliver),
  }
}

/** Returns the checks of the costs that the sheet assumes to be constant. */
export const checksOfConstants = (inputs: Inputs): readonly Check[] =>
  Object.values(constants).map((value) => checkOf(inputs, value))

/** Returns the comparison of the values that the sheet takes from many nodes. */
export const checksOfOthers = (inputs: Inputs): readonly Check[] => [
  checkOf(inputs, ['messages on the bus for each update', ({ units }) => units.messages], 'messages'),
  ...others.map((value) => checkOf(inputs, value)),
]

/** Returns the share of unneeded messages by the formula and as measured. */
export const sharesOf = (
  { many }: Inputs,
  { idle }: UnitLoad,
): { readonly formula: number; readonly measured: number } => ({
  formula: shareWith(idle),
  measured: many.units.unneeded,
})
