import type { FromSchema } from '../../../core/base/schema.ts'
import { documentId, organizationId } from '../../../rest/schemas/resource-schema.ts'
import { invalidAt } from '../../../rest/validator.ts'
import type { PlaceInput } from '../decision-memory.ts'
import { type Judgment, judgedAtMax } from '../judgment-keys.ts'
import { memoryLimits } from '../limits.ts'

export const judgmentQuery = {
  type: 'string',
  minLength: 1,
  maxLength: memoryLimits.queryCharacters,
  description: 'Description of the case.',
  examples: ['Refund of a late delivery'],
} as const

export const decision = {
  type: 'string',
  enum: ['approve', 'reject'],
  description: 'The decision.',
} as const

export const reviewerId = {
  type: 'string',
  format: 'id',
  description: 'The user who decided.',
  examples: ['ann'],
} as const

export const place = {
  organizationId: { ...organizationId, description: 'Organization of the case.' },
  documentId: {
    ...documentId,
    description: 'Document of the case; only together with `organizationId`.',
  },
} as const

export const judgedAt = {
  type: 'integer',
  minimum: 0,
  maximum: judgedAtMax,
  description: 'Time of the decision, in epoch milliseconds; default: now.',
} as const

export const reason = {
  type: 'string',
  maxLength: memoryLimits.reasonCharacters,
  description: "Reason of the decision; '' if not given.",
  examples: ['The carrier is at fault'],
} as const

export const judgmentIds = {
  type: 'array',
  maxItems: memoryLimits.batch,
  items: { type: 'string', format: 'id' },
  examples: [['1767225600000-1b671a64-40d5-491e-99b0-da01ff1f3341']],
} as const

const judgmentId = {
  type: 'string',
  description: 'Id of the judgment.',
  examples: [judgmentIds.examples[0][0]],
} as const

export const addedJudgment = {
  type: 'object',
  required: ['judgmentId'],
  properties: { judgmentId },
} as const

export const judgmentRecords = {
  type: 'array',
  items: {
    type: 'object',
    required: ['judgmentId', 'query', 'decision', 'reason', 'reviewerId', 'judgedAt'],
    properties: {
      judgmentId,
      query: {
        type: 'string',
        description: 'The subject of the judgment.',
        examples: judgmentQuery.examples,
      },
      decision,
      reason,
      reviewerId: {
        type: 'string',
        description: "Id of the reviewer; '' if the reviewer was erased.",
        examples: reviewerId.examples,
      },
      organizationId: { type: 'string', description: 'Absent without an organization.' },
      documentId: { type: 'string', description: 'Absent without a document.' },
      judgedAt: { type: 'integer', description: 'Epoch milliseconds.', examples: [1_767_225_600_000] },
    },
  },
} as const

const suggestion = {
  type: 'object',
  required: [
    'recommendation',
    'confidence',
    'basedOn',
    'scope',
    'scopeLabel',
    'topReasons',
    'uniqueReviewers',
    'caveats',
  ],
  properties: {
    recommendation: { type: 'string', enum: ['approve', 'reject'] },
    confidence: {
      type: 'number',
      description:
        '0 to 1: (w₁ + 1) / (w₁ + w₂ + 2), where w₁ is the weight of this side and w₂ of the other.',
      examples: [0.75],
    },
    basedOn: { type: 'integer', description: 'Number of precedents on this side.', examples: [2] },
    scope: { type: 'string', enum: ['document', 'organization', 'apiKey'], description: 'Whose precedents.' },
    scopeLabel: { type: 'string', description: 'The same as a text for users.', examples: ['This document'] },
    topReasons: {
      type: 'array',
      items: { type: 'string' },
      description: 'At most 3, the highest weight first.',
      examples: [reason.examples],
    },
    uniqueReviewers: {
      type: 'integer',
      description: 'Number of reviewers with this decision; all erased reviewers count as one.',
      examples: [2],
    },
    caveats: {
      type: 'array',
      items: { type: 'string' },
      description:
        'Texts for users: split evidence, support that is mostly older than 6 months, a single reviewer.',
      examples: [[]],
    },
  },
} as const

export const suggested = {
  type: 'object',
  required: ['primary', 'conflict'],
  properties: {
    primary: {
      anyOf: [suggestion, { type: 'null' }],
      description: 'The leading decision; null: too few judgments.',
    },
    conflict: {
      anyOf: [suggestion, { type: 'null' }],
      description: 'The other decision, if both have enough precedents; else null.',
    },
  },
} as const

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
