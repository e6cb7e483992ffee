import type { Precedent } from './judgment-index.ts'
import type { Decision } from './judgment-keys.ts'

export type SuggestionScope = 'document' | 'organization' | 'apiKey'

/** A decision that precedents support, with details of this support. */
interface Suggestion {
  readonly recommendation: Decision
  /** Confidence between 0 and 1 (both exclusive), with three digits. */
  readonly confidence: number
  /** Number of precedents with this decision. */
  readonly basedOn: number
  readonly scope: SuggestionScope
  readonly scopeLabel: string
  /** The reasons with the highest weight, at most 3, the highest first. */
  readonly topReasons: readonly string[]
  readonly uniqueReviewers: number
  readonly caveats: readonly string[]
}

export interface SuggestionResult {
  readonly primary: Suggestion | null
  /**
   * Suggestion of the opposite decision. It is present if both sides have enough precedents; otherwise null.
   */
  readonly conflict: Suggestion | null
}

/** Minimum number of precedents that a side needs for a suggestion. */
const precedentsMin = 2
const reasonsMax = 3
/**
 * Share of a side's weight. If precedents older than `oldMs` have a larger share than this, the suggestion
 * gets a caveat.
 */
const oldShareMax = 0.7
/** Age of an old precedent in ms: half of a year of 365.2425 days. */
const oldMs = 15_778_476_000
const confidenceDigits = 3

const scopeLabels: Readonly<Record<SuggestionScope, string>> = {
  document: 'This document',
  organization: 'This organization',
  apiKey: 'All content',
}

/** All precedents with one decision. Their order depends only on their content. */
interface Side {
  readonly decision: Decision
  readonly precedents: readonly Precedent[]
  readonly weight: number
  readonly newestAt: number
}

/**
 * Weighs precedents, and suggests the decision of the side with more weight. If the weights are equal, the
 * side with more precedents leads, then the side with the newest precedent, then `reject`. The confidence is
 * computed by Laplace's rule of succession, (w₁ + 1) / (w₁ + w₂ + 2), so it stays near ½ if there are few
 * precedents.
 * @param now current time in epoch milliseconds
 * @returns null if neither side has enough precedents; `primary` is null if only the side with less weight
 * has enough
 */
export function weighPrecedents(
  found: readonly Precedent[],
  scope: SuggestionScope,
  now: number,
): SuggestionResult | null {
  const sides = [sideOf('reject', found), sideOf('approve', found)].sort(byLead)
  const [leading, other] = sides as [Side, Side]
  if (!isEnough(leading) && !isEnough(other)) return null
  const split = isEnough(leading) && isEnough(other)
  const shown = (side: Side, against: Side): Suggestion => ({
    recommendation: side.decision,
    confidence: confidenceOf(side, against),
    basedOn: side.precedents.length,
    scope,
    scopeLabel: scopeLabels[scope],
    topReasons: reasonsOf(side),
    uniqueReviewers: reviewersOf(side),
    caveats: caveatsOf(side, split ? against : null, now),
  })
  return {
    primary: isEnough(leading) ? shown(leading, other) : null,
    conflict: split ? shown(other, leading) : null,
  }
}

const isEnough = ({ precedents }: Side): boolean => precedents.length >= precedentsMin

function sideOf(decision: Decision, found: readonly Precedent[]): Side {
  const precedents = found.filter(({ judgment }) => judgment.decision === decision).sort(byWeight)
  const newestAt = precedents.reduce((newest, { judgment }) => Math.max(newest, judgment.judgedAt), 0)
  return { decision, precedents, weight: weightOf(precedents), newestAt }
}

/**
 * Sorts precedents by weight, the highest first. If two precedents compare as equal, their order has no
 * effect on the suggestion.
 */
const byWeight = (a: Precedent, b: Precedent): number =>
  b.weight - a.weight ||
  b.judgment.judgedAt - a.judgment.judgedAt ||
  compareText(a.judgment.reason, b.judgment.reason)

const byLead = (a: Side, b: Side): number =>
  b.weight - a.weight || b.precedents.length - a.precedents.length || b.newestAt - a.newestAt

const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b)

const weightOf = (precedents: readonly Precedent[]): number =>
  precedents.reduce((sum, { weight }) => sum + weight, 0)

function confidenceOf({ weight }: Side, against: Side): number {
  return Number(((weight + 1) / (weight + against.weight + 2)).toFixed(confidenceDigits))
}

/**
 * Returns the reasons of a side. Reasons that differ only in case and in spaces around them form one group.
 * The result contains the wording of the most relevant precedent in the group.
 */
function reasonsOf({ precedents }: Side): readonly string[] {
  const reasons = new Map<string, { readonly text: string; weight: number }>()
  for (const { judgment, weight } of precedents) {
    const text = judgment.reason.trim()
    const known = reasons.get(text.toLowerCase())
    if (known !== undefined) known.weight += weight
    else if (text !== '') reasons.set(text.toLowerCase(), { text, weight })
  }
  const ordered = [...reasons.values()].sort((a, b) => b.weight - a.weight)
  return ordered.slice(0, reasonsMax).map(({ text }) => text)
}

const reviewersOf = ({ precedents }: Side): number =>
  new Set(precedents.map(({ judgment }) => judgment.reviewerId)).size

/**
 * Returns the caveats of a side.
 * @param against the other side; null if it does not have enough precedents
 */
function caveatsOf(side: Side, against: Side | null, now: number): readonly string[] {
  const { precedents, weight } = side
  const old = precedents.filter(({ judgment }) => now - judgment.judgedAt > oldMs)
  const caveats: string[] = []
  if (against !== null)
    caveats.push(
      `The evidence is split: ${against.precedents.length} of ${precedents.length + against.precedents.length} ` +
        `similar judgments say ${against.decision}.`,
    )
  if (weightOf(old) > oldShareMax * weight)
    caveats.push(
      `Most of the weight comes from old judgments: ${old.length} of ${precedents.length} are older than 6 months.`,
    )
  if (reviewersOf(side) === 1) caveats.push(singleReviewer(precedents))
  return caveats
}

/**
 * Returns the caveat for the case that all precedents have the same reviewer. All erased reviewers look like
 * one reviewer, so their number is not known.
 */
const singleReviewer = ([first]: readonly Precedent[]): string =>
  first?.judgment.reviewerId === ''
    ? 'All supporting judgments come from deleted reviewers, perhaps from a single one.'
    : 'All supporting judgments come from a single reviewer.'
