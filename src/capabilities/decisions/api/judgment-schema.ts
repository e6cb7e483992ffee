import { type FromSchema, json } from '../../../core/base/schema.ts'
import { documentId, organizationId } from '../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import type { PlaceInput } from '../decision-memory.ts'
import { type Judgment, judgedAtMax } from '../judgment-keys.ts'
import { memoryLimits } from '../limits.ts'

export const judgmentQuery = json.text('Description of the case.', {
  minLength: 1,
  maxLength: memoryLimits.queryCharacters,
  examples: ['Refund of a late delivery'],
})

export const decision = json.choice(['approve', 'reject'], 'The decision.')

export const reviewerId = json.id('The user who decided.', { examples: ['ann'] })

export const place = {
  organizationId: { ...organizationId, description: 'Organization of the case.' },
  documentId: {
    ...documentId,
    description: 'Document of the case; only together with `organizationId`.',
  },
} as const

export const judgedAt = json.integer('Time of the decision, in epoch milliseconds; default: now.', {
  minimum: 0,
  maximum: judgedAtMax,
})

export const reason = json.text("Reason of the decision; '' if not given.", {
  maxLength: memoryLimits.reasonCharacters,
  examples: ['The carrier is at fault'],
})

export const judgmentIds = json.list(json.id(), {
  maxItems: memoryLimits.batch,
  examples: [['1767225600000-1b671a64-40d5-491e-99b0-da01ff1f3341']],
})

const judgmentId = json.text('Id of the judgment.', { examples: [judgmentIds.examples[0][0]] })

export const addedJudgment = json.object({ judgmentId })

export const judgmentRecords = json.list(
  json.object(
    {
      judgmentId,
      query: json.text('The subject of the judgment.', { examples: judgmentQuery.examples }),
      decision,
      reason,
      reviewerId: json.text("Id of the reviewer; '' if the reviewer was erased.", {
        examples: reviewerId.examples,
      }),
      judgedAt: json.integer('Epoch milliseconds.', { examples: [1_767_225_600_000] }),
    },
    {
      organizationId: json.text('Absent without an organization.'),
      documentId: json.text('Absent without a document.'),
    },
  ),
)

const suggestion = json.object({
  recommendation: json.choice(['approve', 'reject']),
  confidence: json.number(
    '0 to 1: (w₁ + 1) / (w₁ + w₂ + 2), where w₁ is the weight of this side and w₂ of the other.',
    { examples: [0.75] },
  ),
  basedOn: json.integer('Number of precedents on this side.', { examples: [2] }),
  scope: json.choice(['document', 'organization', 'apiKey'], 'Whose precedents.'),
  scopeLabel: json.text('The same as a text for users.', { examples: ['This document'] }),
  topReasons: json.list(json.text(), {
    description: 'At most 3, the highest weight first.',
    examples: [reason.examples],
  }),
  uniqueReviewers: json.integer(
    'Number of reviewers with this decision; all erased reviewers count as one.',
    { examples: [2] },
  ),
  caveats: json.list(json.text(), {
    description:
      'Texts for users: split evidence, support that is mostly older than 6 months, a single reviewer.',
    examples: [[]],
  }),
})

export const suggested = json.object({
  primary: json.orNull(suggestion, 'The leading decision; null: too few judgments.'),
  conflict: json.orNull(suggestion, 'The other decision, if both have enough precedents; else null.'),
})

/**
 * Checks a query.
 * @throws ApiError INVALID_ARGUMENT if a document is given without its organization, or if the text contains
 * only spaces
 */
export function checkJudgmentQuery(data: PlaceInput & { readonly query?: string }): void {
  if (data.query !== undefined && data.query.trim() === '')
    throw invalidAt({ path: '/data/query', message: 'must not be empty' })
  if (data.documentId !== undefined && data.organizationId === undefined)
    throw invalidAt({ path: '/data/organizationId', message: 'is required with documentId' })
}

export const judgmentAnswer = ({
  organizationId: organization,
  documentId: document,
  ...judgment
}: Judgment): FromSchema<typeof judgmentRecords.items> => ({
  ...judgment,
  ...(organization !== null && { organizationId: organization }),
  ...(document !== null && { documentId: document }),
})
