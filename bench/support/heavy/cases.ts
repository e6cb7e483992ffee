import { thousands } from '../report.ts'
import type { HeavyCase } from './case.ts'
import { deltaCases } from './delta.ts'
import { jsonCases } from './json.ts'
import { textCases } from './text.ts'
import { xmlCases } from './xml.ts'

export interface HeavyGroup {
  readonly title: string
  readonly types: readonly HeavyCase['type'][]
  /** Creates the cases. They need a hundred megabytes or more. */
  readonly cases: () => readonly HeavyCase[]
}

/** Returns all groups of cases. With `smoke`, the cases are small. */
export function heavyGroups(smoke: boolean): HeavyGroup[] {
  const size = smoke
    ? { text: 20_000, json: 2_000, xml: 1_000, delta: 2_000 }
    : { text: 1_000_000, json: 100_000, xml: 20_000, delta: 60_000 }
  const group = (
    types: HeavyGroup['types'],
    make: (size: number) => HeavyCase[],
    count: number,
    unit: string,
  ): HeavyGroup => ({
    title: `${types.join(', ')}: ${thousands(count)} ${unit}`,
    types,
    cases: () => make(count),
  })
  return [
    group(['text'], textCases, size.text, 'characters'),
    group(['array', 'map'], jsonCases, size.json, 'values'),
    group(['xml'], xmlCases, size.xml, 'nodes'),
    group(['delta'], deltaCases, size.delta, 'stretches'),
  ]
}
