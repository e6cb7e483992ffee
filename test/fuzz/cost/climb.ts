import type { Random } from '../../support/data/random-doc.ts'

/** A search for the most expensive genome. */
export interface Climb<Genome> {
  readonly random: Random
  readonly seeds: readonly Genome[]
  readonly mutate: (genome: Genome, other: Genome, random: Random) => Genome
  readonly cost: (genome: Genome) => Promise<number>
  /** Returns whether the search must continue. */
  readonly goesOn: (tried: number) => boolean
}

export interface Climbed<Genome> {
  readonly genome: Genome
  readonly cost: number
}

/** Number of genomes whose mutations are tried next. */
const keptMax = 6

/** Returns the most expensive genomes, the highest cost first. */
export async function climb<Genome>({
  random,
  seeds,
  mutate,
  cost,
  goesOn,
}: Climb<Genome>): Promise<readonly Climbed<Genome>[]> {
  let kept: Climbed<Genome>[] = []
  const seen = new Set<string>()
  const attempt = async (genome: Genome): Promise<void> => {
    const key = JSON.stringify(genome)
    if (seen.has(key)) return
    seen.add(key)
    kept = [...kept, { genome, cost: await cost(genome) }].sort((a, b) => b.cost - a.cost).slice(0, keptMax)
  }
  let tried = 0
  for (const seed of seeds) {
    if (!goesOn(tried)) return kept
    await attempt(seed)
    tried += 1
  }
  while (goesOn(tried)) {
    // Some mutations start from a seed, so that the search can leave a local maximum.
    const from = random.below(5) === 0 ? random.pick(seeds) : random.pick(kept).genome
    await attempt(mutate(from, random.pick(seeds), random))
    tried += 1
  }
  return kept
}

/** Applies the first simpler form that still fails, repeatedly, until none does. */
export async function minimize<Genome>(
  genome: Genome,
  simpler: (genome: Genome) => readonly Genome[],
  fails: (genome: Genome) => Promise<boolean>,
): Promise<Genome> {
  for (let attempts = 60; attempts > 0; attempts--) {
    let next: Genome | null = null
    for (const each of simpler(genome)) {
      if (!(await fails(each))) continue
      next = each
      break
    }
    if (next === null) return genome
    genome = next
  }
  return genome
}
