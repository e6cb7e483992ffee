import { branchRecord } from '../../capabilities/branches/api/branch-schema.ts'
import {
  anchor,
  annotationState,
  commentRecords,
  location,
  storedAnchor,
  suggestion,
} from '../../capabilities/comments/api/comment-schema.ts'
import { feedEvents } from '../../capabilities/feed/api/feed-schema.ts'
import { versionRecord } from '../../capabilities/history/api/version-schema.ts'
import { endpointAnswer } from '../../capabilities/webhooks/api/endpoint-schema.ts'
import {
  activityEventData,
  annotationEventData,
  commentEventData,
  contentEventData,
  deletionEventData,
  documentEventData,
  eventMetadata,
  failedDeliveryData,
  feedContentData,
  memberChange,
  permissionEventData,
  testEventData,
  visitEventData,
} from '../../capabilities/webhooks/api/event-schema.ts'
import type { ObjectSchema } from '../../core/base/schema.ts'
import { batchResults, failureDetails } from '../../rest/schemas/batch-results.ts'
import { editTarget } from '../../rest/schemas/edit-target-schema.ts'
import { notifiedUser } from '../../rest/schemas/user-schema.ts'

const [, objectTarget] = editTarget.anyOf

/** Schemas that several operations use, by the names of their types. A type comes after the types that it uses. */
export const sharedSchemas: Readonly<Record<string, ObjectSchema>> = {
  ItemIssue: failureDetails.properties.issues.items,
  ItemFailureDetails: failureDetails,
  ItemResult: batchResults.additionalProperties,
  NamedUser: notifiedUser,
  PlaceInApplication: location,
  CommentAnchor: anchor,
  StoredAnchor: storedAnchor,
  DocumentComment: commentRecords.items,
  AnnotationSuggestion: suggestion,
  AnnotationState: annotationState,
  EditTarget: objectTarget,
  EditorBranch: branchRecord,
  SavedVersion: versionRecord,
  WebhookEndpoint: endpointAnswer,
  EventMetadata: eventMetadata,
  MemberChange: memberChange,
  AnnotationEventData: annotationEventData,
  CommentEventData: commentEventData,
  ActivityEventData: activityEventData,
  ContentEventData: contentEventData,
  FeedContentData: feedContentData,
  DeletionEventData: deletionEventData,
  DocumentEventData: documentEventData,
  PermissionEventData: permissionEventData,
  VisitEventData: visitEventData,
  TestEventData: testEventData,
  FailedDeliveryData: failedDeliveryData,
  ...feedEvents,
}
