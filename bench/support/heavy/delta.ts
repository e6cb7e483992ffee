import { contentKey, type HeavyCase, loaded } from './case.ts'

interface Op {
  readonly insert: string | object
  readonly attributes?: object
}

/** Returns cases that rewrite formatted texts. Each text has about `runs` stretches with attributes. */
export function deltaCases(runs: number): HeavyCase[] {
  const text = (n: number): string => `word${n} `
  const ops = (make: (n: number) => Op): Op[] => Array.from({ length: runs }, (_, n) => make(n))
  const striped = ops((n) => (n % 2 ? { insert: text(n), attributes: { bold: true } } : { insert: text(n) }))
  const colors = (by: number): Op[] =>
    ops((n) => ({ insert: text(n), attributes: { color: `c${(n * by) % 97}` } }))
  const embeds = (by: number): Op[] => ops((n) => ({ insert: { image: (n * by) % 997 } }))
  const plain: Op[] = [
    {
      insert: ops((n) => ({ insert: text(n) }))
        .map(({ insert }) => insert)
        .join(''),
    },
  ]
  const of = (name: string, before: readonly Op[], data: readonly Op[]): HeavyCase => ({
    type: 'delta',
    name,
    data,
    before: () => loaded((author) => author.getText(contentKey).applyDelta(structuredClone(before) as Op[])),
  })
  return [
    of(
      'stripes exchanged',
      striped,
      ops((n) => (n % 2 ? { insert: text(n) } : { insert: text(n), attributes: { bold: true } })),
    ),
    of('stripes taken away', striped, plain),
    of('plain text striped', plain, striped),
    of('all colours changed', colors(1), colors(3)),
    of(
      'striped, all texts changed',
      striped,
      striped.map((op) => ({ ...op, insert: `x${op.insert as string}` })),
    ),
    of('embeds changed', embeds(1), embeds(3)),
  ]
}
