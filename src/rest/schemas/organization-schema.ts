import { type FromSchema, json } from '../../core/base/schema.ts'
import type { OrganizationRecord } from '../../core/directory/store/records.ts'
import {
  batchMax,
  createdAt,
  lastUpdated,
  metadata,
  organizationId,
  resourceName,
} from './resource-schema.ts'

export const organizationsRequest = json.object({
  organizations: json.list(
    json.object(
      { organizationId },
      {
        organizationName: { ...resourceName, description: 'Name of the organization.' },
        metadata,
      },
    ),
    { maxItems: batchMax, examples: [[{ organizationId: 'acme', organizationName: 'Acme Ltd.' }]] },
  ),
})

export const organizationRecord = json.object({
  id: json.text('Id of the organization.'),
  organizationName: json.text("''  when it was never given."),
  metadata,
  createdAt,
  lastUpdated,
})

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
