import { branchRecord } from '../../api/branch-schema.ts'
import type { ObjectSchema } from '../../api/schema.ts'
import { batchResults, failureDetails } from '../../api/schemas/batch-results.ts'
import { anchor, commentRecords, location } from '../../api/schemas/comment-schema.ts'
import { editTarget } from '../../api/schemas/edit-target-schema.ts'
import { endpointAnswer } from '../../api/schemas/endpoint-schema.ts'
import { notifiedUser } from '../../api/schemas/notification-schema.ts'
import { versionRecord } from '../../api/schemas/version-schema.ts'

const [, objectTarget] = editTarget.anyOf

/** Schemas that several operations use, by the names of their types. A type comes after the types that it uses. */
export const sharedSchemas: Readonly<Record<string, ObjectSchema>> = {
  ItemIssue: failureDetails.properties.issues.items,
  ItemFailureDetails: failureDetails,
  ItemResult: batchResults.additionalProperties,
  NamedUser: notifiedUser,
  PlaceInApplication: location,
  CommentAnchor: anchor,
  DocumentComment: commentRecords.items,
  EditTarget: objectTarget,
  EditorBranch: branchRecord,
  SavedVersion: versionRecord,
  WebhookEndpoint: endpointAnswer,
}
