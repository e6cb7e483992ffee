import type { FromSchema } from '../../core/base/schema.ts'
import type { OrganizationRecord } from '../../core/directory/store/records.ts'
import {
  batchMax,
  createdAt,
  lastUpdated,
  metadata,
  organizationId,
  resourceName,
} from './resource-schema.ts'

export const organizationsRequest = {
  type: 'object',
  required: ['organizations'],
  properties: {
    organizations: {
      type: 'array',
      maxItems: batchMax,
      items: {
        type: 'object',
        required: ['organizationId'],
        properties: {
          organizationId,
          organizationName: { ...resourceName, description: 'Name of the organization.' },
          metadata,
        },
      },
      examples: [[{ organizationId: 'acme', organizationName: 'Acme Ltd.' }]],
    },
  },
} as const

export const organizationRecord = {
  type: 'object',
  required: ['id', 'organizationName', 'metadata', 'createdAt', 'lastUpdated'],
  properties: {
    id: { type: 'string', description: 'Id of the organization.' },
    organizationName: { type: 'string', description: "''  when it was never given." },
    metadata,
    createdAt,
    lastUpdated,
  },
} as const

export const organizationAnswer = ({
  organizationId: id,
  organizationName,
  metadata: kept,
  createdAt: created,
  lastUpdated: updated,
}: OrganizationRecord): FromSchema<typeof organizationRecord> => ({
  id,
  organizationName,
  metadata: kept,
  createdAt: created,
  lastUpdated: updated,
})
