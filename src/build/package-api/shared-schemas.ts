import { branchRecord } from '../../api/branch-schema.ts'
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
} from '../../api/feed/event-schema.ts'
import { feedEvents } from '../../api/feed/feed-schema.ts'
import { batchResults, failureDetails } from '../../api/schemas/batch-results.ts'
import {
  anchor,
  annotationState,
  commentRecords,
  location,
  storedAnchor,
  suggestion,
} from '../../api/schemas/comment-schema.ts'
import { editTarget } from '../../api/schemas/edit-target-schema.ts'
import { endpointAnswer } from '../../api/schemas/endpoint-schema.ts'
import { notifiedUser } from '../../api/schemas/notification-schema.ts'
import { versionRecord } from '../../api/schemas/version-schema.ts'
import type { ObjectSchema } from '../../schema.ts'

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
