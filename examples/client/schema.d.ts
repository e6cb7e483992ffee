// Made by `npm run generate`, from /openapi.json: to be made again, not changed.
export interface paths {
	"/v1/notifications/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Notify users
		 * @description Adds a notification of a document for the users named, and unless `notifyAll` is false for everybody who is a user of the organization now. With an id that is used already nothing is added (`success: false`), so that a call can be made again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Who took the action. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							/** @description Letters (a to z), digits, `_` and `-`; made when left out. */
							notificationId?: string | null;
							/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. One that is not known stays as it is. */
							displayHeadlineMessageTemplate: string;
							/** @description What placeholders stand for: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
							displayHeadlineMessageTemplateData?: {
								[key: string]: unknown;
							} | null;
							displayBodyMessage: string;
							/** @description Anything you want to keep with it, at most 16384 bytes of JSON. */
							notificationSourceData?: {
								[key: string]: unknown;
							} | null;
							/** @description Who is addressed; they need not be users of the organization. At most 131072 bytes of JSON. */
							notifyUsers: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							}[];
							/**
							 * @description Address all users of the organization, too; with false only `notifyUsers`.
							 * @default true
							 */
							notifyAll?: boolean | null;
							/**
							 * @description Make the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description Make the document, in no folder, if it does not exist.
							 * @default false
							 */
							createDocument?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description False: the id is used already, and nothing was added. */
									success: boolean;
									message: string;
									/** @description The id, given or made. */
									notificationId: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/documents/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read documents (version 1)
		 * @description By id, where those that do not exist are left out; or all of the organization at once. For large organizations use version 2, which has pages.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Without it all documents of the organization. */
							documentIds?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the document. */
									id: string;
									/** @description '' when it was never given. */
									documentName: string;
									disabled: boolean;
									/**
									 * @description In effect: its own, else that of its folder, else `public`.
									 * @enum {string}
									 */
									accessType: "public" | "organizationPrivate" | "restricted";
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/documents/locations/data/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete all data of a location
		 * @description Removes the annotations of a location of a document, with their comments, reactions, activities and judgments, the activities of annotations that were deleted there before, and all activities that name the location, such as those of recordings. It answers when nothing is left of them; nobody is told of it. A location that is not known is a success. The credentials of the headers have to be repeated in the body.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description The API key again. */
							apiKey: string;
							/** @description The auth token again. */
							authToken: string;
							/** @description Organization of the document. Required if several organizations of the API key have a document of that id; without it the server looks for the document in each of them. */
							organizationId?: string | null;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Its `id` alone counts. */
							location: {
								/** Format: id */
								id: string;
								locationName?: string | null;
							} & {
								[key: string]: unknown;
							};
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: null;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/documents/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Update documents (version 1)
		 * @description What is not given stays as it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documents: {
								/**
								 * Format: id
								 * @description Id of the document.
								 */
								documentId: string;
								/** @description Name of the document. */
								documentName?: string | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/folders/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add folders
		 * @description Also into each other, in any order. One that exists already is left as it is: `success` is false for it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							folders: {
								/**
								 * Format: id
								 * @description Unique in the organization; `root` is reserved.
								 */
								folderId: string;
								/** @description Name of the folder. */
								folderName?: string | null;
								/** @description The folder that it is in; `root` at the top. */
								parentFolderId?: string | null;
							}[];
							/** @description Make what the call names and does not exist: the organization, and the folder or document in it. Default: the option `createMissing` of the server. */
							createMissing?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/folders/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete a folder
		 * @description With all folders and documents in it, and their content. Connections to these are closed for good. The answer comes when all of it is gone; what a crash interrupts is taken up again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the folder.
							 */
							folderId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: null;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/folders/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read folders (version 1)
		 * @description All of the organization, or one with the folders directly in it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Without it all folders. */
							folderId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description Id of the folder.
									 */
									folderId: string;
									/** @description '' when it was never given. */
									folderName: string;
									/**
									 * Format: id
									 * @description Id of the organization.
									 */
									organizationId: string;
									/**
									 * Format: id
									 * @description The folder that it is in; `root` at the top.
									 */
									parentFolderId: string;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Records of the folders in it; there when a folder was asked for, down to the depth asked for. */
									subFolders?: Record<string, never>[];
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/folders/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Update and move folders
		 * @description What is not given stays as it is. With another `parentFolderId` the folder moves there with all that is in it. Moves of one call are judged together: those that would put folders into themselves are all refused.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							folders: {
								/**
								 * Format: id
								 * @description Unique in the organization; `root` is reserved.
								 */
								folderId: string;
								/** @description Name of the folder. */
								folderName?: string | null;
								/** @description The folder that it is in; `root` at the top. */
								parentFolderId?: string | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/usergroups/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add user groups
		 * @description Makes groups of users, to which access can be granted as to users. A group that is there already gets the name that is given.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							organizationUserGroups: {
								/** Format: id */
								groupId: string;
								/** @description Of a new group its id, unless given. */
								groupName?: string | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/usergroups/users/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add users to a group
		 * @description A group that does not exist is made, with its id as its name, and `groupCreated` is true: it is granted nothing yet. A user of whom nothing is known in the organization is added all the same, and can be described with `/v2/users/update`. Who is in the group already stays in it. A user is in at most 200 groups of an organization.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/**
							 * Format: id
							 * @description The group.
							 */
							organizationUserGroupId: string;
							userIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the users. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this user. */
										success: boolean;
										organizationUserGroupId: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
										/** @description True: this call has made the group; else absent. */
										groupCreated?: boolean;
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v1/organizations/usergroups/users/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Remove users from a group
		 * @description Removes the named users from a group, or everybody. The users stay in the organization; what the group may do they may no longer, within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/**
							 * Format: id
							 * @description The group.
							 */
							organizationUserGroupId: string;
							/** @description Whom to remove; required unless `deleteAll`. */
							userIds?: string[] | null;
							/**
							 * @description Remove everybody: up to 10000 in one call, and the message says whether there are more. Not together with `userIds`.
							 * @default false
							 */
							deleteAll?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the users. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this user. */
										success: boolean;
										organizationUserGroupId: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/activities/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add activities
		 * @description Adds activities of a document, as of now. An id that there is already is overwritten: it keeps its time, and all else is as it is given now. Those of the types `huddle.create`, `huddle.join` and `recorder.done` are events, too, each once.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Each at most 16384 bytes as JSON, naming at most 100 users, and all together 2000. */
							activities: {
								/** @description Unique in the organization; made if left out. One that there is already is overwritten. */
								id?: string | null;
								/**
								 * @description What it is about.
								 * @enum {string}
								 */
								featureType: "comment" | "reaction" | "recorder" | "crdt" | "custom";
								/**
								 * Format: id
								 * @description What was done, such as `comment.add`.
								 */
								actionType: string;
								/** @description Who did it. */
								actionUser: {
									/** Format: id */
									userId: string;
									name?: string | null;
									email?: string | null;
								};
								/** @description What was acted on, such as an annotation; `custom` activities must have one. */
								targetEntityId?: string | null;
								/** @description The place in the document that it is about. It is deleted with the data of this location. */
								location?: {
									/** Format: id */
									id: string;
									locationName?: string | null;
								} | null;
								/** @description What was changed. Looked into for users only: objects with a `userId`. */
								changes?: {
									[key: string]: unknown;
								} | null;
								/** @description What to show to people. `{{name}}` stands for a member of `displayMessageTemplateData`. */
								displayMessageTemplate?: string | null;
								/** @description Values of the placeholders; of an object with a `name`, such as a user, that is shown. */
								displayMessageTemplateData?: {
									[key: string]: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/activities/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete activities
		 * @description Deletes activities of the document, named by `activityIds`, by `activities`, or by both. One that the document does not have is `success: false`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							activityIds?: string[] | null;
							activities?: {
								/** Format: id */
								id: string;
							}[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/activities/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List activities
		 * @description Those that fit every filter that is given, by time. What is there from the first page to the last is answered exactly once, whatever is added meanwhile. A page may have fewer than asked for, also none, where filters leave little or activities are large: go on until there is no `pageToken`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Only those of this document. */
							documentId?: string | null;
							/** @description Only those on it, such as an annotation. */
							targetEntityId?: string | null;
							featureTypes?: ("comment" | "reaction" | "recorder" | "crdt" | "custom" | "administration")[] | null;
							actionTypes?: string[] | null;
							/** @description Only those of this acting user. */
							userId?: string | null;
							/** @description Only these. */
							activityIds?: string[] | null;
							/**
							 * @description By timestamp.
							 * @default desc
							 */
							order?: ("asc" | "desc") | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** Format: id */
									id: string;
									/**
									 * @description What it is about. `administration`: changes of organizations, documents, folders, users, groups and permissions.
									 * @enum {string}
									 */
									featureType: "comment" | "reaction" | "recorder" | "crdt" | "custom" | "administration";
									/**
									 * Format: id
									 * @description What was done, such as `comment.add`.
									 */
									actionType: string;
									/** @description Who did it. */
									actionUser: {
										/** Format: id */
										userId: string;
										name?: string;
										email?: string;
									};
									/**
									 * Format: id
									 * @description What was acted on, such as an annotation; `custom` activities must have one.
									 */
									targetEntityId?: string;
									/** @description The place in the document that it is about. It is deleted with the data of this location. */
									location?: {
										/** Format: id */
										id: string;
										locationName?: string;
									};
									/** @description What was changed. Looked into for users only: objects with a `userId`. */
									changes?: {
										[key: string]: unknown;
									};
									/** @description What to show to people. `{{name}}` stands for a member of `displayMessageTemplateData`. */
									displayMessageTemplate?: string;
									/** @description Values of the placeholders; of an object with a `name`, such as a user, that is shown. */
									displayMessageTemplateData?: {
										[key: string]: unknown;
									};
									metadata: {
										apiKey: string;
										organizationId: string;
										/** @description Absent where it is of no document. */
										documentId?: string;
									};
									/** @description Epoch milliseconds of when it was first recorded. */
									timestamp: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/activities/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change activities
		 * @description Changes what is given of activities of the document; what is left out stays, and so does their time. One that the document does not have is not made (`success: false`).
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Each at most 16384 bytes as JSON afterwards, naming at most 100 users, and all together 2000. */
							activities: {
								/** Format: id */
								id: string;
								/** @description What it is about. */
								featureType?: ("comment" | "reaction" | "recorder" | "crdt" | "custom") | null;
								/** @description What was done, such as `comment.add`. */
								actionType?: string | null;
								/** @description Who did it. */
								actionUser?: {
									/** Format: id */
									userId: string;
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description What was acted on, such as an annotation; `custom` activities must have one. */
								targetEntityId?: string | null;
								/** @description The place in the document that it is about. It is deleted with the data of this location. */
								location?: {
									/** Format: id */
									id: string;
									locationName?: string | null;
								} | null;
								/** @description What was changed. Looked into for users only: objects with a `userId`. */
								changes?: {
									[key: string]: unknown;
								} | null;
								/** @description What to show to people. `{{name}}` stands for a member of `displayMessageTemplateData`. */
								displayMessageTemplate?: string | null;
								/** @description Values of the placeholders; of an object with a `name`, such as a user, that is shown. */
								displayMessageTemplateData?: {
									[key: string]: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/auth/generate_token": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Make a realtime token
		 * @description Makes a token with which a user opens realtime connections to the documents of the API key. Hand it to the browser instead of your credentials.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							userId: string;
							userProperties: {
								/** @description Display name. */
								name: string;
								email: string;
								/**
								 * @description Makes the user an editor of all documents of the API key.
								 * @default false
								 */
								isAdmin?: boolean | null;
							};
							/** @description What the token is good for; of a resource that is listed twice the last entry counts. Without it the token is good for whatever its user may do. */
							permissions?: {
								resources: {
									/** @enum {string} */
									type: "organization" | "document" | "folder";
									/**
									 * Format: id
									 * @description Id of the resource.
									 */
									id: string;
									/** @description Organization of the resource; required for documents and folders. */
									organizationId?: string | null;
									/** @default editor */
									accessRole?: ("viewer" | "editor") | null;
									/** @description Unix time in seconds at which the permission ends; without it it does not. A time in the past ends it now. */
									expiresAt?: number | null;
								}[];
							} | null;
							/** @default 172800 */
							expiresInSeconds?: number | null;
							/**
							 * @description `y-sweet`: the answer is what Y-Sweet's client takes as its token; for one `document`, or without `docId`.
							 * @default weft
							 */
							format?: ("weft" | "y-sweet") | null;
							/** @description Which document a token of format `y-sweet` leads to; it grants nothing. */
							document?: {
								/** Format: id */
								organizationId: string;
								/** Format: id */
								documentId: string;
								/** @default main */
								editorId?: string | null;
							} | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description A JWT (HS256) for the realtime endpoint. */
									token: string;
									/** @description Unix time in seconds. */
									expiresAt: number;
									/** @description Of format `y-sweet`: what the websocket URL begins with. */
									url?: string;
									/** @description Of format `y-sweet`: the server. */
									baseUrl?: string;
									/** @description Of format `y-sweet`: how its client calls the document. */
									docId?: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/auth/permissions/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Grant permissions
		 * @description Grants a user, or a user group, roles on organizations, folders and documents, over what was granted on them before; of a resource that is listed twice the last entry counts. All of it is granted or, when something does not exist, nothing. What is granted on a document decides before what is granted on its folders, from the nearest up, and on the organization; what is granted to a user before what is granted to groups. A user of whom nothing is known is added to the organization. Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Required, unless `organizationUserGroupId` is given. */
							user?: {
								/** Format: id */
								userId: string;
							} | null;
							/** @description A group that this is for, instead of a user; all resources are of its organization. */
							organizationUserGroupId?: string | null;
							permissions: {
								resources: {
									/** @enum {string} */
									type: "organization" | "document" | "folder";
									/**
									 * Format: id
									 * @description Id of the resource.
									 */
									id: string;
									/** @description Organization of the resource; required for documents and folders. */
									organizationId?: string | null;
									/** @default editor */
									accessRole?: ("viewer" | "editor") | null;
									/** @description Unix time in seconds at which the permission ends; without it it does not. A time in the past ends it now. */
									expiresAt?: number | null;
								}[];
							};
							/** @description Make what the call names and does not exist: the organization, and the folder or document in it. Default: the option `createMissing` of the server. */
							createMissing?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/auth/permissions/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Ask what users may do
		 * @description What each user may do in the organization, and on each of the folders and documents: by grants, groups, inheritance and access types. On a folder it is what the user may do on a document in it that has no settings of its own. In the organization itself, users who have no grant on it are viewers if they have one within it, and else denied.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** @description Users; times the resources, of which the organization is one, at most 5000. */
							userIds: string[];
							/** @description Folders to ask about. */
							folderIds?: string[] | null;
							/** @description Documents to ask about. */
							documentIds?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the users. */
								data: {
									[key: string]: {
										/** @description By the ids of the resources. */
										organization: {
											[key: string]: {
												/**
												 * @description What the user may do there, whatever gives it; absent when nothing.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description The access type in effect, inherited or not. An organization has none.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Unix time in seconds at which what gives the role ends; absent when it does not. */
												expiresAt?: number;
												error?: string;
												/** @description Why the user has the role, or has none; absent where the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: what would give one and does not.
													 * @enum {string}
													 */
													source: "user" | "group" | "accessType" | "membership";
													/** @enum {string} */
													resourceType?: "organization" | "folder" | "document";
													/** @description Has the grant or sets the access type. Absent for a membership, and for an access type that nothing sets. */
													resourceId?: string;
													/** @description The group of the grant. */
													groupId?: string;
												};
												/** @enum {string} */
												errorCode?: "does_not_exist" | "permission_denied";
											};
										};
										/** @description By the ids of the resources. */
										folders: {
											[key: string]: {
												/**
												 * @description What the user may do there, whatever gives it; absent when nothing.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description The access type in effect, inherited or not. An organization has none.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Unix time in seconds at which what gives the role ends; absent when it does not. */
												expiresAt?: number;
												error?: string;
												/** @description Why the user has the role, or has none; absent where the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: what would give one and does not.
													 * @enum {string}
													 */
													source: "user" | "group" | "accessType" | "membership";
													/** @enum {string} */
													resourceType?: "organization" | "folder" | "document";
													/** @description Has the grant or sets the access type. Absent for a membership, and for an access type that nothing sets. */
													resourceId?: string;
													/** @description The group of the grant. */
													groupId?: string;
												};
												/** @enum {string} */
												errorCode?: "does_not_exist" | "permission_denied";
											};
										};
										/** @description By the ids of the resources. */
										documents: {
											[key: string]: {
												/**
												 * @description What the user may do there, whatever gives it; absent when nothing.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description The access type in effect, inherited or not. An organization has none.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Unix time in seconds at which what gives the role ends; absent when it does not. */
												expiresAt?: number;
												error?: string;
												/** @description Why the user has the role, or has none; absent where the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: what would give one and does not.
													 * @enum {string}
													 */
													source: "user" | "group" | "accessType" | "membership";
													/** @enum {string} */
													resourceType?: "organization" | "folder" | "document";
													/** @description Has the grant or sets the access type. Absent for a membership, and for an access type that nothing sets. */
													resourceId?: string;
													/** @description The group of the grant. */
													groupId?: string;
												};
												/** @enum {string} */
												errorCode?: "does_not_exist" | "permission_denied";
											};
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/auth/permissions/remove": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Take permissions back
		 * @description Takes back what is granted to a user, or a user group, on the named resources themselves; what follows from other grants, and from access types, stays. What is not granted, or on something that does not exist, is no error. Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Required, unless `organizationUserGroupId` is given. */
							userId?: string | null;
							/** @description A group that this is for, instead of a user; all resources are of its organization. */
							organizationUserGroupId?: string | null;
							permissions: {
								resources: {
									/** @enum {string} */
									type: "organization" | "document" | "folder";
									/**
									 * Format: id
									 * @description Id of the resource.
									 */
									id: string;
									/** @description Organization of the resource; required for documents and folders. */
									organizationId?: string | null;
								}[];
							};
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/auth/revoke_tokens": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Revoke the realtime tokens of a user
		 * @description Tokens that were issued for the user until now are refused from now on, and the connections that they opened are closed with 4401. Tokens without an `iat` claim count as issued before.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Whose tokens.
							 */
							userId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description The user that was named. */
									userId: string;
									/** @description Unix time in milliseconds: tokens whose `iat` is not later are refused. */
									issuedUntil: number;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add annotations
		 * @description Starts threads of comments on a document. With an id that is used already nothing is added (`success: false`), so that a call can be made again. At most 500 comments in one call, 1000 in a thread. Events: `comment_annotation.add`, and `comment.add` for each comment.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							/** @description Of those annotations that have none of their own. */
							location?: ({
								/** Format: id */
								id: string;
								locationName?: string | null;
							} & {
								[key: string]: unknown;
							}) | null;
							annotations: {
								/** @description Unique in the organization; made if left out. */
								annotationId?: string | null;
								/** @description A place in what you show, such as a page or a view. Other members are kept as they are; at most 4096 bytes of JSON. */
								location?: ({
									/** Format: id */
									id: string;
									locationName?: string | null;
								} & {
									[key: string]: unknown;
								}) | null;
								/** @description What it is about in the content of an editor. */
								anchor?: {
									/**
									 * Format: id
									 * @description Editor instance.
									 */
									editorId: string;
									/** @description Name of the root. Default: the only root of the editor, else `content`. */
									contentKey?: string | null;
									/**
									 * Format: byte
									 * @description Yjs relative position, encoded and base64: it stays where it is while the content changes.
									 */
									position: string;
									/** @description The same, of the end of a range. */
									positionEnd?: string | null;
								} | null;
								status?: ("open" | "resolved") | null;
								/** @description Whatever you call it; null: none. */
								priority?: string | null;
								/** @description Who is to see to it; null: nobody. */
								assignedTo?: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description Makes it a suggestion, to be accepted or rejected. */
								suggestion?: {
									/** @description What is suggested: any JSON of at most 16384 bytes. */
									content?: unknown;
								} | null;
								comments?: {
									/** @description Unique in the annotation; made if left out. */
									commentId?: string | null;
									/** @description Who says it. */
									from: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string | null;
										email?: string | null;
									};
									/** @description At most 16384 bytes of UTF-8. */
									text: string;
								}[] | null;
							}[];
							/**
							 * @description Make the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description Make the document, in no folder, if it does not exist.
							 * @default false
							 */
							createDocument?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add comments
		 * @description Adds comments to the end of a thread, which has at most 1000. With an id that is used already nothing is added (`success: false`). Event: `comment.add`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							comments: {
								/** @description Unique in the annotation; made if left out. */
								commentId?: string | null;
								/** @description Who says it. */
								from: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								};
								/** @description At most 16384 bytes of UTF-8. */
								text: string;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete comments
		 * @description Deletes comments with their reactions; the annotation stays. Event: `comment.delete`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							commentIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List comments
		 * @description All comments of an annotation, the oldest first. A page may hold fewer than asked for; there are more as long as there is a `pageToken`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/** @description These, as far as they exist, in this order and without pages. */
							commentIds?: string[] | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description Id of the comment.
									 */
									commentId: string;
									/** @description Who says it. */
									from: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									};
									/** @description At most 16384 bytes of UTF-8. */
									text: string;
									reactions: {
										/** Format: id */
										reactionId: string;
										/** @description Such as an emoji. */
										reaction: string;
										user: {
											/** Format: id */
											userId: string;
											/** @description Display name. */
											name?: string;
											email?: string;
										};
										/** @description Epoch milliseconds. */
										createdAt: number;
									}[];
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/reactions/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * React to a comment
		 * @description Adds reactions to a comment, which has at most 100, of 32768 bytes of JSON. What goes beyond is not added, nor is one with an id that is used already, nor where the user has reacted so already (`success: false`). Event: `comment.reaction_add`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/**
							 * Format: id
							 * @description Id of the comment.
							 */
							commentId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							reactions: {
								/** @description Unique in the comment; made if left out. */
								reactionId?: string | null;
								/** @description Such as an emoji. */
								reaction: string;
								/** @description Who reacts; left out: `actionUser`. */
								user?: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/reactions/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Take back reactions
		 * @description Deletes reactions of a comment. Event: `comment.reaction_delete`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/**
							 * Format: id
							 * @description Id of the comment.
							 */
							commentId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							reactionIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/comments/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change comments
		 * @description Changes the texts of comments. Event: `comment.update`; the same text again has none.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/**
							 * Format: id
							 * @description Id of the annotation.
							 */
							annotationId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							comments: {
								/**
								 * Format: id
								 * @description Id of the comment.
								 */
								commentId: string;
								/** @description At most 16384 bytes of UTF-8. */
								text: string;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete annotations
		 * @description Deletes annotations of a document with all their comments. There is one activity `comment_annotation.delete` for each, and the event `comment.delete` for each of its comments. One that the document does not have is `success: false`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							annotationIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List annotations
		 * @description Annotations of a document with their first comments, by the time of adding; several filters hold together. What is there from the first page to the last is answered exactly once. A page may hold fewer than asked for, even none; there are more as long as there is a `pageToken`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description These, as far as they exist, in this order and without pages. */
							annotationIds?: string[] | null;
							/** @description Those in any of these locations. */
							locationIds?: string[] | null;
							statuses?: ("open" | "resolved")[] | null;
							/** @description Those that this user has made, commented on or reacted to, or is to see to. */
							userId?: string | null;
							/**
							 * @description By time: the newest first, or the oldest.
							 * @default desc
							 */
							order?: ("desc" | "asc") | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description Id of the annotation.
									 */
									annotationId: string;
									/**
									 * Format: id
									 * @description Id of the document.
									 */
									documentId: string;
									location: ({
										/** Format: id */
										id: string;
										locationName?: string;
									} & {
										[key: string]: unknown;
									}) | null;
									anchor: {
										/**
										 * Format: id
										 * @description Editor instance.
										 */
										editorId: string;
										/** @description Name of the root. Default: the only root of the editor, else `content`. */
										contentKey: string;
										/**
										 * Format: byte
										 * @description Yjs relative position, encoded and base64: it stays where it is while the content changes.
										 */
										position: string;
										/**
										 * Format: byte
										 * @description The same, of the end of a range.
										 */
										positionEnd?: string;
									} | null;
									/** @enum {string} */
									status: "open" | "resolved";
									/** @description Whatever you call it; null: none. */
									priority: string | null;
									/** @description Who is to see to it; null: nobody. */
									assignedTo: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									} | null;
									suggestion: {
										/** @enum {string} */
										status: "pending" | "accepted" | "rejected";
										/** @description Null when none was given. */
										content: unknown;
									} | null;
									/** @description The oldest ones: 50 at most, and no more than about 1048576 bytes. `comments/get` answers all. */
									comments: {
										/**
										 * Format: id
										 * @description Id of the comment.
										 */
										commentId: string;
										/** @description Who says it. */
										from: {
											/** Format: id */
											userId: string;
											/** @description Display name. */
											name?: string;
											email?: string;
										};
										/** @description At most 16384 bytes of UTF-8. */
										text: string;
										reactions: {
											/** Format: id */
											reactionId: string;
											/** @description Such as an emoji. */
											reaction: string;
											user: {
												/** Format: id */
												userId: string;
												/** @description Display name. */
												name?: string;
												email?: string;
											};
											/** @description Epoch milliseconds. */
											createdAt: number;
										}[];
										/** @description Epoch milliseconds. */
										createdAt: number;
										/** @description Epoch milliseconds. */
										lastUpdated: number;
									}[];
									/** @description How many comments there are in all. */
									commentCount: number;
									createdBy: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									};
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds; of the annotation, not of its comments. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/commentannotations/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change annotations, or decide suggestions
		 * @description Changes what is given of annotations; what is left out stays as it is. Each changed member has an event of its own: `comment_annotation.status_change`, `.priority_change`, `.assign`, `.suggestion_accept`, `.suggestion_reject`; what else is changed leaves the activity `comment_annotation.update` only, and what changes nothing none. A suggestion that is accepted or rejected is kept as a judgment, too: of the text of the first comment, by `actionUser`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Who does it. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							annotations: {
								/**
								 * Format: id
								 * @description Id of the annotation.
								 */
								annotationId: string;
								/** @description A place in what you show, such as a page or a view. Other members are kept as they are; at most 4096 bytes of JSON. */
								location?: ({
									/** Format: id */
									id: string;
									locationName?: string | null;
								} & {
									[key: string]: unknown;
								}) | null;
								/** @description What it is about in the content of an editor. */
								anchor?: {
									/**
									 * Format: id
									 * @description Editor instance.
									 */
									editorId: string;
									/** @description Name of the root. Default: the only root of the editor, else `content`. */
									contentKey?: string | null;
									/**
									 * Format: byte
									 * @description Yjs relative position, encoded and base64: it stays where it is while the content changes.
									 */
									position: string;
									/** @description The same, of the end of a range. */
									positionEnd?: string | null;
								} | null;
								status?: ("open" | "resolved") | null;
								/** @description Whatever you call it; null: none. */
								priority?: string | null;
								/** @description Who is to see to it; null: nobody. */
								assignedTo?: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description One of the three. */
								suggestion?: {
									/** @description True: the suggestion is accepted. */
									accept?: boolean | null;
									/** @description True: it is rejected. */
									reject?: boolean | null;
									/** @description Suggests this instead, to be decided anew. */
									content?: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Create the content of an editor
		 * @description Of several calls at once for one editor exactly one succeeds.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/** @description The whole content: a string for `text` and `xml`, an object for `map`, an array for `array`, a Quill delta for `delta`, `{ attributes, delta }` for `xmltext` (Lexical, Slate). */
							data: unknown;
							/** @enum {string} */
							type: "text" | "map" | "array" | "xml" | "delta" | "xmltext";
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root that there is, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/** @description Who made the change; shown as `lastUpdatedBy`. */
							userId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Names the state after the call; opaque. */
									version: string;
									/** @description False when the content was the same already. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; of a restoration: absent. */
									contentKey?: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/apply": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Apply a Yjs update
		 * @description For backends that hold a Y.Doc of their own. What the document has already is left out.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/**
							 * Format: byte
							 * @description A Yjs update (V1), base64.
							 */
							update: string;
							/**
							 * @description Make the document if it does not exist.
							 * @default false
							 */
							create?: boolean | null;
							/** @description Who made the change; shown as `lastUpdatedBy`. */
							userId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: byte
									 * @description Yjs state vector (V1) afterwards, base64.
									 */
									stateVector: string;
									/** @description Names the state after the call; opaque. */
									version: string;
									/** @description False when all of the update was known already. */
									changed: boolean;
									/** @description Size of what was new. */
									bytes: number;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete the content of editors
		 * @description Their versions go with it. Connections to them are closed for good; a client that still has the content cannot bring it back. There is one activity `crdt.editor_delete` for each editor.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/** @description Editor instances; without it all of the document. */
							editorIds?: string[] | null;
							/** @description Who deleted it; default: `api`. */
							userId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description False when there was nothing to delete. */
									success: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the content of editors
		 * @description The content is durable. An update with the same content changes nothing. Without `editorId`, an editor without the root that is read is left out. The content in one response is at most `maxResponseBytes` long; one document with `format` `update` is as long as the document.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/** @description Editor instance; without it all of the document. */
							editorId?: string | null;
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root that there is, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/**
							 * @description `json`: as update takes it for the type found; `text`, `xml`, `delta`, `xmltext`: as update takes it for that type; `update`: base64 of the Yjs state (V1); `roots`: `[{ contentKey, type }]` of all roots, where the type `none` is that of an empty root which may become any. `update` and `roots` need no root of the name `contentKey`.
							 * @default json
							 */
							format?: ("json" | "text" | "xml" | "delta" | "xmltext" | "update" | "roots") | null;
							/**
							 * @description Answer also how each document is made up.
							 * @default false
							 */
							statistics?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Editor id. */
									id: string;
									data: unknown;
									type: string;
									contentKey: string;
									/** @description Names this state; opaque. */
									version: string;
									/**
									 * Format: byte
									 * @description Yjs state vector (V1), base64.
									 */
									stateVector: string;
									/** Format: date-time */
									lastUpdate: string;
									/** @description User id; '' when nobody is known. */
									lastUpdatedBy: string;
									/** @description Size of the document as encoded by Yjs, at most. */
									sizeBytes: number;
									/** @description Of all that the document holds, whatever `contentKey` is; only with `statistics`. */
									statistics?: {
										/** @description Structs of Yjs in the encoded state: each is a run that was inserted in one go, or deleted in one piece. */
										structs: number;
										/** @description What was deleted and is kept as a mark: characters (UTF-16 code units), of everything else (values, shared types, embeds, formatting marks) one each. */
										tombstones: number;
										/** @description Client ids that have ever inserted something: each session of an editor has one of its own. */
										clients: number;
									};
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Replace the content of an editor
		 * @description Changes the live document with as few operations as make it equal to `data`, so that what is kept keeps its cursors and formatting. Connected clients see the change at once. The same content again changes nothing. With `baseVersion` the change is merged with what came since that version; with `ifVersion` it is made only if nothing came since: that is how to call again where nobody knows how the first call ended.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/** @description The whole content: a string for `text` and `xml`, an object for `map`, an array for `array`, a Quill delta for `delta`, `{ attributes, delta }` for `xmltext` (Lexical, Slate). */
							data: unknown;
							/** @enum {string} */
							type: "text" | "map" | "array" | "xml" | "delta" | "xmltext";
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root that there is, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/** @description Who made the change; shown as `lastUpdatedBy`. */
							userId?: string | null;
							/** @description The version that `data` was made from: only what differs from it is changed, and what was typed since stays. */
							baseVersion?: string | null;
							/** @description Change nothing (ABORTED) unless the document is at this version. */
							ifVersion?: string | null;
							/**
							 * @description Make the document if it does not exist.
							 * @default false
							 */
							upsert?: boolean | null;
							/**
							 * @description Answer what would change, and change nothing; `version` is then the present one.
							 * @default false
							 */
							dryRun?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Names the state after the call; opaque. */
									version: string;
									/** @description False when the content was the same already. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; of a restoration: absent. */
									contentKey?: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/versions/create": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Keep a version of an editor
		 * @description Keeps the content as it is now, until the version, the editor or its document is deleted. Versions of equal content share its space.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/** @description What people call it; '' when it has none. */
							label?: string | null;
							/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
							metadata?: {
								[key: string]: unknown;
							} | null;
							/** @description Who makes it; shown as `createdBy`. */
							userId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the version. */
									versionId: string;
									/**
									 * @description `automatic`: made in the background, or of what there was before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description What people call it; '' when it has none. */
									label: string;
									/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' when nobody is known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Who edited since the version before, the first one first; at most 500, and nobody who is not known. */
									authors: {
										userId: string;
										/** @description Absent when it is not known. */
										name?: string;
									}[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/versions/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete a version
		 * @description Its authors become those of the next newer version. The document stays as it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/**
							 * Format: id
							 * @description Id of the version.
							 */
							versionId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									versionId: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/versions/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the content of a version
		 * @description In the formats of `/v2/crdt/get`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/**
							 * Format: id
							 * @description Id of the version.
							 */
							versionId: string;
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root that there is, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/**
							 * @description `json`: as update takes it for the type found; `text`, `xml`, `delta`, `xmltext`: as update takes it for that type; `update`: base64 of the Yjs state (V1); `roots`: `[{ contentKey, type }]` of all roots, where the type `none` is that of an empty root which may become any. `update` and `roots` need no root of the name `contentKey`.
							 * @default json
							 */
							format?: ("json" | "text" | "xml" | "delta" | "xmltext" | "update" | "roots") | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the version. */
									versionId: string;
									/**
									 * @description `automatic`: made in the background, or of what there was before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description What people call it; '' when it has none. */
									label: string;
									/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' when nobody is known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Who edited since the version before, the first one first; at most 500, and nobody who is not known. */
									authors: {
										userId: string;
										/** @description Absent when it is not known. */
										name?: string;
									}[];
									data: unknown;
									type: string;
									contentKey: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/versions/list": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List the versions of an editor
		 * @description The newest first, without their content.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/**
							 * @description How many to answer at most. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the version. */
									versionId: string;
									/**
									 * @description `automatic`: made in the background, or of what there was before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description What people call it; '' when it has none. */
									label: string;
									/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' when nobody is known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Who edited since the version before, the first one first; at most 500, and nobody who is not known. */
									authors: {
										userId: string;
										/** @description Absent when it is not known. */
										name?: string;
									}[];
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/crdt/versions/restore": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Restore a version
		 * @description Changes the live document with as few operations as give every shared type the content of the version, formatting included; those that came later are emptied. Connected clients see the change at once and go on; what they type meanwhile is merged. What there was before becomes an automatic version, so that it can be undone. Restoring again changes nothing.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							/** Format: id */
							documentId: string;
							/**
							 * Format: id
							 * @description Editor instance.
							 */
							editorId: string;
							/**
							 * Format: id
							 * @description Id of the version.
							 */
							versionId: string;
							/** @description Change nothing (ABORTED) unless the document is at this version. */
							ifVersion?: string | null;
							/**
							 * @description Answer what would change, and change nothing; `version` is then the present one.
							 * @default false
							 */
							dryRun?: boolean | null;
							/** @description Who restores; shown as `lastUpdatedBy`. */
							userId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Names the state after the call; opaque. */
									version: string;
									/** @description False when the content was the same already. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; of a restoration: absent. */
									contentKey?: string;
									/** @description The version of what there was before; null when nothing has changed. */
									previousVersionId: string | null;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/livestate/broadcast": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Say something to those who are connected
		 * @description Sends `{ "event", "data" }` to the clients that are connected to the document, or to one of its editors, and asked for it with `live=1` in their URL: viewers too, others never. It is not part of the document and kept nowhere: who is not connected, or reads too slowly at the moment, misses it. Nobody gets it twice. Of calls that come one after the other each client gets the messages in that order.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Only to clients of this editor; without it, of all editors of the document. */
							editorId?: string | null;
							/** @description What it is: any name. */
							event: string;
							/** @description Anything, at most 65536 bytes as JSON and 64 levels deep; null, when it is left out. */
							data?: unknown;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Always true: nobody need listen. */
									success: boolean;
									/** @description Connections it was sent to. */
									delivered: number;
									/** @description Connections that asked for it and read too slowly to get it. */
									missed: number;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/memory/judgments/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Record a judgment
		 * @description Remembers what somebody decided, as a precedent for `/v2/memory/suggest`. Judgments of an organization go with it; those of a document stay without it. An API key keeps 100000 judgments, with 20000000 characters; beyond that, those judged longest ago are forgotten.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description What was judged, in words. */
							query: string;
							/**
							 * @description What was decided.
							 * @enum {string}
							 */
							decision: "approve" | "reject";
							/** @description Why; '' when it was not given. */
							reason?: string | null;
							/**
							 * Format: id
							 * @description Who decided.
							 */
							reviewerId: string;
							/** @description The organization it is about. */
							organizationId?: string | null;
							/** @description The document it is about; only together with `organizationId`. */
							documentId?: string | null;
							/** @description When it was decided, in epoch milliseconds; now, when it is left out. */
							judgedAt?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the judgment. */
									judgmentId: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/memory/judgments/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete judgments
		 * @description Forgets judgments: suggestions no longer draw on them.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							judgmentIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/memory/judgments/query": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Find judgments
		 * @description Judgments that fit every filter, the newest first. With `query`, those that a suggestion for it would draw on, the most relevant first. Those of an organization include those of its documents.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Only judgments like this. */
							query?: string | null;
							/** @description What was decided. */
							decision?: ("approve" | "reject") | null;
							/** @description Who decided. */
							reviewerId?: string | null;
							/** @description The organization it is about. */
							organizationId?: string | null;
							/** @description The document it is about; only together with `organizationId`. */
							documentId?: string | null;
							/**
							 * @description How many to answer at most. A number above 100 stands for 100.
							 * @default 100
							 */
							limit?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the judgment. */
									judgmentId: string;
									/** @description What was judged. */
									query: string;
									/**
									 * @description What was decided.
									 * @enum {string}
									 */
									decision: "approve" | "reject";
									/** @description Why; '' when it was not given. */
									reason: string;
									/** @description Who decided; '' when that has been forgotten. */
									reviewerId: string;
									/** @description Absent when it is about none. */
									organizationId?: string;
									/** @description Absent when it is about none. */
									documentId?: string;
									/** @description Epoch milliseconds. */
									judgedAt: number;
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/memory/suggest": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Suggest a decision
		 * @description Suggests whether to approve or reject something, from recorded judgments of similar things. No model is asked: the same judgments always give the same answer. Precedents are judgments that share words with `query` and are at least 0.3 times as relevant (BM25+, times the number of words shared) as the most relevant one; the weight of each is that ratio. Common English words are left out; so are, in a large memory, the most common ones, and of a single one all but the newest 8000 judgments. They come from the narrowest scope in which one decision has at least 2: the document, the organization, all of the API key. The decision with more weight is `primary`, unless it has fewer than 2; of equal ones that with more precedents, then that with the newest. The other one is `conflict` when both have at least 2. The answer has neither `status` nor `message`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description What is to be judged, in words. */
							query: string;
							/** @description The organization it is about. */
							organizationId?: string | null;
							/** @description The document it is about; only together with `organizationId`. */
							documentId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @description The side that leads; null: too little is known. */
								primary: {
									/** @enum {string} */
									recommendation: "approve" | "reject";
									/** @description 0 to 1: (w₁ + 1) / (w₁ + w₂ + 2), where w₁ is the weight of this side and w₂ of the other. */
									confidence: number;
									/** @description Number of precedents on this side. */
									basedOn: number;
									/**
									 * @description Whose precedents.
									 * @enum {string}
									 */
									scope: "document" | "organization" | "apiKey";
									/** @description The same for people. */
									scopeLabel: string;
									/** @description At most 3, those with the most weight first. */
									topReasons: string[];
									/** @description How many people decided so; those who have been forgotten count as one. */
									uniqueReviewers: number;
									/** @description For people: split evidence, support that is mostly older than 6 months, a single reviewer. */
									caveats: string[];
								} | null;
								/** @description The other side, when both have enough precedents; else null. */
								conflict: {
									/** @enum {string} */
									recommendation: "approve" | "reject";
									/** @description 0 to 1: (w₁ + 1) / (w₁ + w₂ + 2), where w₁ is the weight of this side and w₂ of the other. */
									confidence: number;
									/** @description Number of precedents on this side. */
									basedOn: number;
									/**
									 * @description Whose precedents.
									 * @enum {string}
									 */
									scope: "document" | "organization" | "apiKey";
									/** @description The same for people. */
									scopeLabel: string;
									/** @description At most 3, those with the most weight first. */
									topReasons: string[];
									/** @description How many people decided so; those who have been forgotten count as one. */
									uniqueReviewers: number;
									/** @description For people: split evidence, support that is mostly older than 6 months, a single reviewer. */
									caveats: string[];
								} | null;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/notifications/config/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read what a user wants to see
		 * @description Which notifications reach a user: of the documents named, and of the organization where that is asked for or no documents are named.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** Format: id */
							userId: string;
							/** @description The documents. */
							documentIds?: string[] | null;
							/** @description The config of the organization, too. True unless there are `documentIds`. */
							getOrganizationConfig?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									userId: string;
									/** @description '' for the organization. */
									documentId: string;
									/** @description As set here. */
									config: {
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										inbox?: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										email?: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										slack?: "ALL" | "MINE" | "NONE";
									};
									/** @description What holds: the document's own, else the organization's, else `ALL`. */
									effectiveConfig: {
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										inbox: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										email: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none.
										 * @enum {string}
										 */
										slack: "ALL" | "MINE" | "NONE";
									};
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/notifications/config/set": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Set what users want to see
		 * @description Sets which notifications reach users, in their inbox, by e-mail and by chat: of the documents named, or without these of every document that has no config of its own for the user. What is left out stays as it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description The documents; without them, also as an empty list, the default for all of the organization. */
							documentIds?: string[] | null;
							/** @description The users; they need not be users of the organization. */
							userIds: string[];
							config: {
								/** @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none. */
								inbox?: ("ALL" | "MINE" | "NONE") | null;
								/** @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none. */
								email?: ("ALL" | "MINE" | "NONE") | null;
								/** @description `ALL`: every notification; `MINE`: those that name the user; `NONE`: none. */
								slack?: ("ALL" | "MINE" | "NONE") | null;
							};
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the users. */
								data: {
									[key: string]: {
										success: boolean;
										userId: string;
										/** @description The document, the first where there are several; '' for the organization. */
										documentId: string;
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/notifications/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete notifications
		 * @description Deletes the notifications that fit all filters given, of which there must be one beside the organization: up to 500 in one call, and the message says whether there are more. With `userId` they are deleted for that user alone, and altogether where nobody else is addressed.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Those of this document. */
							documentId?: string | null;
							/** @description Those for this user. */
							userId?: string | null;
							/** @description These, as far as they exist. */
							notificationIds?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/notifications/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List notifications
		 * @description Notifications of an organization by time; several filters hold together. With `userId` they are what is in the user's inbox: what addresses the user, as far as the user's notification config lets it in. A page may hold fewer than asked for, even none; there are more as long as there is a `pageToken`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Those of this document. */
							documentId?: string | null;
							/** @description Those for this user. */
							userId?: string | null;
							/** @description These, as far as they exist. */
							notificationIds?: string[] | null;
							/**
							 * @description By time: the newest first, or the oldest. Ignored with `notificationIds`.
							 * @default desc
							 */
							order?: ("desc" | "asc") | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									id: string;
									documentId: string;
									actionUser: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									};
									/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. One that is not known stays as it is. */
									displayHeadlineMessageTemplate: string;
									/** @description What placeholders stand for: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
									displayHeadlineMessageTemplateData: {
										[key: string]: unknown;
									};
									displayBodyMessage: string;
									/** @description Anything you want to keep with it, at most 16384 bytes of JSON. */
									notificationSourceData: {
										[key: string]: unknown;
									};
									/** @description The headline as `userId` reads it; without `userId` as it is for nobody in particular. At most 4000 characters. */
									displayHeadlineMessage: string;
									notifyUsers: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									}[];
									notifyAll: boolean;
									/** @description Who has read it. With `userId` that user alone, else at most 100. */
									readByUserIds: string[];
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/notifications/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change notifications, or mark them as read
		 * @description Changes what is given of notifications, and notes who has read them; what is left out stays as it is. One that does not exist, or is not addressed to somebody who is said to have read it, is not changed (`success: false`).
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							notifications: {
								/**
								 * Format: id
								 * @description Id of the notification.
								 */
								id: string;
								/** @description Who has read it, beside those who had. */
								readByUserIds?: string[] | null;
								/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. One that is not known stays as it is. */
								displayHeadlineMessageTemplate?: string | null;
								/** @description What placeholders stand for: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
								displayHeadlineMessageTemplateData?: {
									[key: string]: unknown;
								} | null;
								displayBodyMessage?: string | null;
								/** @description Anything you want to keep with it, at most 16384 bytes of JSON. */
								notificationSourceData?: {
									[key: string]: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add organizations
		 * @description One that exists already is left as it is: `success` is false for it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							organizations: {
								/**
								 * Format: id
								 * @description Id of the organization.
								 */
								organizationId: string;
								/** @description Name of the organization. */
								organizationName?: string | null;
								/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete organizations
		 * @description With everything in them: documents and their content, folders, users, groups, permissions. Connections are closed for good. The answer comes when all of it is gone; what a crash interrupts is taken up again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							organizationIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/access/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Set the access type of documents
		 * @description Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documentIds: string[];
							/**
							 * @description Who may do what without having been granted it: `public`: every user edits; `organizationPrivate`: members of the organization, as what they are there; `restricted`: nobody.
							 * @enum {string}
							 */
							accessType: "public" | "organizationPrivate" | "restricted";
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add documents
		 * @description One that exists already is left as it is: `success` is false for it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documents: {
								/**
								 * Format: id
								 * @description Id of the document.
								 */
								documentId: string;
								/** @description Name of the document. */
								documentName?: string | null;
								/** @description The folder that it is in; `root`: in none. */
								folderId?: string | null;
								/** @description Who may do what without having been granted it: `public`: every user edits; `organizationPrivate`: members of the organization, as what they are there; `restricted`: nobody. */
								accessType?: ("public" | "organizationPrivate" | "restricted") | null;
								/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
							}[];
							/**
							 * @description Make the organization first if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description Make the folders first, at the top, that do not exist.
							 * @default false
							 */
							createFolder?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete documents
		 * @description With the content of all their editors, and the permissions on them. Connections are closed for good. The answer comes when all of it is gone; what a crash interrupts is taken up again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documentIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read documents
		 * @description By id, where those that do not exist are left out; or those directly in a folder, or all of them, in the order of their ids, in pages; of these, with `search`, the ones in whose id or name it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documentIds?: string[] | null;
							/** @description Only the documents directly in it; `root`: those in none. Not with `documentIds`. */
							folderId?: string | null;
							/** @description Only those with this text anywhere in their id or name; not with `documentIds`. Upper and lower case are the same, and so are the ways in which Unicode encodes a character; spaces count. One call looks at no more than 5,000 of them: a page may have fewer than asked for, or none, and a `pageToken` all the same, with which to go on. */
							search?: string | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the document. */
									id: string;
									/** @description '' when it was never given. */
									documentName: string;
									disabled: boolean;
									/**
									 * @description In effect: its own, else that of its folder, else `public`.
									 * @enum {string}
									 */
									accessType: "public" | "organizationPrivate" | "restricted";
									/**
									 * Format: id
									 * @description Id of the organization.
									 */
									organizationId: string;
									/**
									 * Format: id
									 * @description The folder that it is in; `root`: in none.
									 */
									folderId: string;
									/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/move": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Move documents
		 * @description Into a folder, or out of any. Access that documents inherit is then that of their new folder.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documentIds: string[];
							/**
							 * Format: id
							 * @description Where to; `root`: into none.
							 */
							folderId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/documents/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Update documents
		 * @description What is not given stays as it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							documents: {
								/**
								 * Format: id
								 * @description Id of the document.
								 */
								documentId: string;
								/** @description Name of the document. */
								documentName?: string | null;
								/** @description The folder that it is in; `root`: in none. */
								folderId?: string | null;
								/** @description Who may do what without having been granted it: `public`: every user edits; `organizationPrivate`: members of the organization, as what they are there; `restricted`: nobody. */
								accessType?: ("public" | "organizationPrivate" | "restricted") | null;
								/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description True: nobody may open or change the document. */
								disabled?: boolean | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/folders/access/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Set the access type of folders
		 * @description For all that is in them and inherits access. Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							folderIds: string[];
							/**
							 * @description Who may do what without having been granted it: `public`: every user edits; `organizationPrivate`: members of the organization, as what they are there; `restricted`: nobody.
							 * @enum {string}
							 */
							accessType: "public" | "organizationPrivate" | "restricted";
							/** @description False: what is granted above the folder says nothing about what is in it. Without it this stays as it is; true in new folders. */
							inheritAccessFromParent?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/folders/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete a folder
		 * @description With all folders and documents in it, and their content. Connections to these are closed for good. The answer comes when all of it is gone; what a crash interrupts is taken up again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the folder.
							 */
							folderId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: null;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/folders/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read folders
		 * @description All of the organization, or one with those below it down to a depth.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/** @description Without it all folders. */
							folderId?: string | null;
							/**
							 * @description How many levels of subfolders; 0: none, 1: those directly in the folder.
							 * @default 1
							 */
							maxDepth?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description Id of the folder.
									 */
									folderId: string;
									/** @description '' when it was never given. */
									folderName: string;
									/**
									 * Format: id
									 * @description Id of the organization.
									 */
									organizationId: string;
									/**
									 * Format: id
									 * @description The folder that it is in; `root` at the top.
									 */
									parentFolderId: string;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Records of the folders in it; there when a folder was asked for, down to the depth asked for. */
									subFolders?: Record<string, never>[];
									/** @description The API key that it belongs to. */
									apiKey: string;
									/** @description Ids of the folders above it, from `root` down to its parent. */
									ancestors: string[];
									/**
									 * @description In effect: its own, else that of the folders above it as far as it inherits, else `public`.
									 * @enum {string}
									 */
									accessType: "public" | "organizationPrivate" | "restricted";
									/** @description False: what is granted above says nothing about what is in here. */
									inheritAccessFromParent: boolean;
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read organizations
		 * @description By id, where those that do not exist are left out; or all of them in the order of their ids, in pages; of these, with `search`, the ones in whose id or name it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Without it all organizations of the API key. */
							organizationIds?: string[] | null;
							/** @description Only those with this text anywhere in their id or name; not with `organizationIds`. Upper and lower case are the same, and so are the ways in which Unicode encodes a character; spaces count. One call looks at no more than 1,000 of them: a page may have fewer than asked for, or none, and a `pageToken` all the same, with which to go on. */
							search?: string | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the organization. */
									id: string;
									/** @description ''  when it was never given. */
									organizationName: string;
									/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Update organizations
		 * @description What is not given stays as it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							organizations: {
								/**
								 * Format: id
								 * @description Id of the organization.
								 */
								organizationId: string;
								/** @description Name of the organization. */
								organizationName?: string | null;
								/** @description Anything you want to keep with it, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/usergroups/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete user groups
		 * @description Deletes groups with all that was granted to them. Their users stay in the organization. Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** Format: id */
							organizationId: string;
							groupIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/organizations/usergroups/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List user groups, or the users of one, or what is granted to it
		 * @description Groups of an organization; with a folder or document those to which a role is granted on it; in the order of their ids. Or one group with its users, or with what is granted to it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Organization of the groups.
							 */
							organizationId: string;
							/** @description Only groups to which a role is granted on this folder. */
							folderId?: string | null;
							/** @description Only groups to which a role is granted on this document; not together with `folderId`. */
							documentId?: string | null;
							/** @description Answer this group, with its users, or with `grants`, which are what is paged; not together with `folderId` or `documentId`. */
							organizationUserGroupId?: string | null;
							/**
							 * @description With `organizationUserGroupId`: answer what is granted to the group, instead of its users.
							 * @default false
							 */
							grants?: boolean | null;
							/** @description Answer these groups, as far as they are there; without both all. */
							groupIds?: string[] | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									groupId: string;
									groupName: string;
									/**
									 * @description What is granted to the group on the folder or document asked for, else on the organization itself; absent where nothing is.
									 * @enum {string}
									 */
									accessRole?: "viewer" | "editor";
									/** @description When that ends, in Unix seconds; absent when it does not. */
									expiresAt?: number;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Users of the group, in the order of their ids; only with `organizationUserGroupId`. */
									userIds?: string[];
									/** @description What is granted to the group, what ends first before the rest; only with `grants`. A page may have fewer than asked for. */
									grants?: {
										/**
										 * @description Of what it is on.
										 * @enum {string}
										 */
										type: "organization" | "folder" | "document";
										/** @description Id of what it is on. */
										id: string;
										/** @enum {string} */
										accessRole: "viewer" | "editor";
										/** @description When that ends, in Unix seconds; absent when it does not. */
										expiresAt?: number;
									}[];
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/presence/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Say that users are on a document
		 * @description Users who are not connected are shown for a time, to connected clients too: in their awareness each has a client of its own. Those who are connected are changed as by `presence/update`. Who was taken away by `presence/delete` is back. What is said here of a user ends when the user closes the last connection. Where several servers share a store, users who are not connected are known to those that have somebody on the document; while none has, they are gone if the server that was told ends.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							users: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								/** @description Answered by `presence/get` only. */
								email?: string | null;
								/** @description Whatever you like, such as `online`, `away`, `offline`. */
								status?: string | null;
							}[];
							/**
							 * @description How long users who are not connected stay, unless they are added or updated again.
							 * @default 60
							 */
							ttlSeconds?: number | null;
							/**
							 * @description Make the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description Make the document, in no folder, if it does not exist.
							 * @default false
							 */
							createDocument?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description False when nobody was added. */
									success: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/presence/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Take users away from a document
		 * @description They are shown no more. Those who are connected stay so, unseen, until they connect again or are added by `presence/add`. Who is not present needs no taking away: that is a success.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							userIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Always true. */
									success: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/presence/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List who is on a document
		 * @description Everybody who is connected to one of its editors, or was added, in the order of their ids.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							/** @description Of these users only. */
							userIds?: string[] | null;
							/** @description Only users with one of these. */
							statuses?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name: string;
									/** @description Answered by `presence/get` only. */
									email: string;
									/** @description As REST says, else as the client says, else `online`. */
									status: string;
									/**
									 * @description `socket`: the user is connected; `rest`: only a backend says that they are there.
									 * @enum {string}
									 */
									source: "socket" | "rest";
									/** @description The editors to which the user is connected. */
									editorIds: string[];
									/** @description Epoch milliseconds: the last sign of life of a connection, or call about the user. */
									lastSeen: number;
								}[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/presence/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change what is shown of users on a document
		 * @description What is left out stays as it is. Clients see the status at once, as `user.status` of the awareness state, and it stays until it is changed here or the user closes the last connection. Users who are not connected stay for their time from now. Users who are not present are left alone.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the organization.
							 */
							organizationId: string;
							/**
							 * Format: id
							 * @description Id of the document.
							 */
							documentId: string;
							users: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								/** @description Answered by `presence/get` only. */
								email?: string | null;
								/** @description Whatever you like, such as `online`, `away`, `offline`. */
								status?: string | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description False when none of the users is present. */
									success: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Add users
		 * @description Makes users of an organization and gives them a role on it, or on one folder or document of it. Who is there already is changed: what is left out stays as it is. A role given here does not end by itself.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Organization of the users.
							 */
							organizationId: string;
							/** @description Users of this folder; without it, and without `documentId`, of the organization. */
							folderId?: string | null;
							/** @description Users of this document; not together with `folderId`. */
							documentId?: string | null;
							users: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
								/** @description Address of a picture. */
								photoUrl?: string | null;
								/** @description How the user is shown, as a CSS colour. */
								color?: string | null;
								/** @description Whatever you like to keep with the user, replaced as a whole; at most 16384 bytes of JSON. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description Role on the resource. Without it `editor`; a user who has a role there keeps it, with its end. */
								accessRole?: ("viewer" | "editor") | null;
							}[];
							/**
							 * @description Make the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description Make the folder, at the top, if it does not exist.
							 * @default false
							 */
							createFolder?: boolean | null;
							/**
							 * @description Make the document, in no folder, if it does not exist.
							 * @default false
							 */
							createDocument?: boolean | null;
							/** @description Make what the call names and does not exist: the organization, and the folder or document in it. Default: the option `createMissing` of the server. */
							createMissing?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/data/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete one user's data
		 * @description Erases a user. The user's tokens are revoked and connections closed (4401), whatever the organization; rights, places in groups, the record, notifications for the user, presence go; comments, activities and notifications that others see stay, with `deleted-user` where they name the user, and judgments without who judged. Answers after at most 5 seconds: while the status is `running` it goes on in the background, also after a crash; call again to see how far it is. Called when it is `done`, it erases what has come since, and counts on for 30 days. Not looked into: the content of documents, the id in the history of who changed them, targets of activities that are not called `user.…`, and free text, such as messages and comments.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Whose data.
							 */
							userId: string;
							/** @description Only those of this organization; without it those of all organizations of the API key. */
							organizationId?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * @description `done`: nothing is left.
									 * @enum {string}
									 */
									status: "running" | "done";
									/** @description From how many of each the user was removed so far; a crash may leave out some that it came between. */
									removed: {
										[key: string]: number;
									};
									/** @description Epoch milliseconds of the first of what is counted. */
									startedAt: number;
									/** @description Epoch milliseconds; absent while it is running. */
									endedAt?: number;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/data/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Get one user's data
		 * @description All that is kept of a user: presence, judgments, rights, groups, the record, comments, activities, notifications and what the user wants to see of them. Comments, activities and notifications are those of the user, and those that name the user; a `comment` without a `commentId` is an annotation. In an order that stays: what is there all the while comes once, whatever comes and goes between pages. A page may have fewer than `pageSize`, also none, and yet not be the last. The content of documents is not looked into.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Whose data.
							 */
							userId: string;
							/** @description Only those of this organization; without it those of all organizations of the API key. */
							organizationId?: string | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * @description What it is.
									 * @enum {string}
									 */
									kind: "user" | "grant" | "membership" | "activity" | "notification" | "notificationMark" | "notificationConfig" | "presence" | "comment" | "version" | "judgment";
									/** @description Absent where it is of no organization. */
									organizationId?: string;
									/** @description Absent where it is of no document. */
									documentId?: string;
									/** @description As it is kept; of those whom a notification addresses, or who react to a comment, this user alone. */
									data: {
										[key: string]: unknown;
									};
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Remove users
		 * @description Takes from users their role on a folder or document. Without these, removes them from the organization: with every right in it, their place in its groups, and what is known of them. Open connections follow within a second.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Organization of the users.
							 */
							organizationId: string;
							/** @description Users of this folder; without it, and without `documentId`, of the organization. */
							folderId?: string | null;
							/** @description Users of this document; not together with `folderId`. */
							documentId?: string | null;
							userIds: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List users
		 * @description Users of an organization: all who were added to it, or have a right on something in it, or are in one of its groups. With a folder or document: those to whom a role is granted on it. In the order of their ids, in pages; with `search` the ones in whose id, name or email it is.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Organization of the users.
							 */
							organizationId: string;
							/** @description Users of this folder; without it, and without `documentId`, of the organization. */
							folderId?: string | null;
							/** @description Users of this document; not together with `folderId`. */
							documentId?: string | null;
							/** @description Answer these, as far as they are users of the resource; without it all. */
							userIds?: string[] | null;
							/** @description Only those with this text anywhere in their id, name or email; not with `userIds`. Upper and lower case are the same, and so are the ways in which Unicode encodes a character; spaces count. One call looks at no more than 5,000 of them: a page may have fewer than asked for, or none, and a `pageToken` all the same, with which to go on. */
							search?: string | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name: string;
									email: string;
									/** @description Address of a picture. */
									photoUrl: string;
									/** @description How the user is shown, as a CSS colour. */
									color: string;
									/** @description Whatever you like to keep with the user, replaced as a whole; at most 16384 bytes of JSON. */
									metadata: {
										[key: string]: unknown;
									};
									/**
									 * @description What is granted to the user on the resource itself; absent for users of the organization who have rights only on things in it, or by groups.
									 * @enum {string}
									 */
									accessRole?: "viewer" | "editor";
									/** @description When that ends, in Unix seconds; absent when it does not. */
									expiresAt?: number;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/users/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change users
		 * @description Changes what is known of users, and their role on the resource. What is left out stays as it is. Somebody who is not a user of the resource is not changed (`success: false`).
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Organization of the users.
							 */
							organizationId: string;
							/** @description Users of this folder; without it, and without `documentId`, of the organization. */
							folderId?: string | null;
							/** @description Users of this document; not together with `folderId`. */
							documentId?: string | null;
							users: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
								/** @description Address of a picture. */
								photoUrl?: string | null;
								/** @description How the user is shown, as a CSS colour. */
								color?: string | null;
								/** @description Whatever you like to keep with the user, replaced as a whole; at most 16384 bytes of JSON. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description Role on the resource from now on, until the end it had before, if any. */
								accessRole?: ("viewer" | "editor") | null;
							}[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								/** @description By the ids of the items; by its JSON pointer where an item has none. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description What was done, or why not. */
										message: string;
										/** @description Only with `success` false: the same members as `error.details`. */
										details?: {
											/** @description Stable code of the cause. */
											code: string;
											/** @description Members of the item that are not valid or not known. */
											issues?: {
												/** @description JSON pointer into the body. */
												path: string;
												message: string;
											}[];
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/deliveries/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List what was sent to a webhook endpoint
		 * @description What has become of each event, with all attempts; the newest event first. It is known for 30 days after the event (an option of the server), or until the organization or the endpoint is deleted.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`; `basic-raw` or `basic-processed` for the URLs of the basic webhook service.
							 */
							endpointId: string;
							/** @description `pending`: it waits for its first attempt, or the next one. */
							status?: ("pending" | "succeeded" | "failed") | null;
							/**
							 * @description How many to answer at most. A number above 250 stands for 250.
							 * @default 50
							 */
							limit?: number | null;
							/** @description `iterator` of an answer, for what follows, or its `prevIterator`, for what comes before. */
							iterator?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									deliveries: {
										/**
										 * Format: id
										 * @description `webhook-id` of the delivery: the same with every attempt.
										 */
										messageId: string;
										eventType: string;
										/**
										 * @description `pending`: it waits for its first attempt, or the next one.
										 * @enum {string}
										 */
										status: "pending" | "succeeded" | "failed";
										/**
										 * Format: date-time
										 * @description When the event happened.
										 */
										createdAt: string;
										/** @description Null unless it is pending. */
										nextAttemptAt: string | null;
										/** @description Why it failed, where that is not the last attempt. */
										reason: string | null;
										/** @description The last ones, oldest first. */
										attempts: {
											/** Format: date-time */
											time: string;
											/** @description Of the answer; null where there was none. */
											httpCode: number | null;
											/** @description Milliseconds. */
											durationMs: number;
											/** @description Why it failed; null: it succeeded. */
											error: string | null;
										}[];
									}[];
									/** @description Where it goes on; null at the end. */
									iterator: string | null;
									/** @description What comes before; null at the beginning. */
									prevIterator: string | null;
									/** @description Whether this is the end. */
									done: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/deliveries/recover": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Send everything again that has failed
		 * @description Of the events since a time, the oldest first; at most 1000 with one call: where it answers that many, there may be more for the next one.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`; `basic-raw` or `basic-processed` for the URLs of the basic webhook service.
							 */
							endpointId: string;
							/** @description Epoch milliseconds. */
							since: number;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description How many are sent again. */
									requeued: number;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/deliveries/resend": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Send something again to a webhook endpoint
		 * @description Whatever has become of it: at once, with the same `webhook-id`, and with all the attempts that a new event has.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description `webhook-id` of the delivery: the same with every attempt.
							 */
							messageId: string;
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`; `basic-raw` or `basic-processed` for the URLs of the basic webhook service.
							 */
							endpointId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description `webhook-id` of the delivery: the same with every attempt.
									 */
									messageId: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/create": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Make a webhook endpoint
		 * @description Its signing secret is made with it, and answered by `secret/get` alone. Events that happen after the answer are told to it.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description http(s) URL that events are sent to. */
							url: string;
							description?: string | null;
							/** @description Types of the events to be told of; all, where it is not set or empty: `comment_annotation.add`, `comment_annotation.assign`, `comment_annotation.status_change`, `comment_annotation.priority_change`, `comment_annotation.suggestion_accept`, `comment_annotation.suggestion_reject`, `comment.add`, `comment.update`, `comment.delete`, `comment.reaction_add`, `comment.reaction_delete`, `huddle.create`, `huddle.join`, `recorder.done`, `crdt.update_data`, `document.create`, `document.delete`, `presence.join`, `presence.leave`, `webhook.test`, `message.attempt.exhausted`. Other types are stored, and no event has them: `warnings` lists them. */
							filterTypes?: string[] | null;
							/** @description Organizations and documents whose events are to be told, by their ids; all, where it is not set or empty. */
							channels?: string[] | null;
							/** @description Whether nothing is sent to it. */
							disabled?: boolean | null;
							/** @description Deliveries a second, at most; any number, where it is not set. */
							rateLimit?: number | null;
							/** @description Anything you want to keep with it, at most 4096 bytes as JSON. Replaced as a whole. */
							metadata?: {
								[key: string]: string | null;
							} | null;
							/** @description Your own name for it, by which it can be named wherever `endpointId` is asked for. Unique. */
							uid?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the endpoint. */
									id: string;
									/** @description http(s) URL that events are sent to. */
									url: string;
									description: string | null;
									filterTypes: string[] | null;
									channels: string[] | null;
									/** @description Nothing is sent to it: it was disabled by a call, by its own answer 410, or after five days of failures only. */
									disabled: boolean;
									rateLimit: number | null;
									uid: string | null;
									metadata: null | {
										[key: string]: string;
									};
									/** Format: date-time */
									createdAt: string;
									/** Format: date-time */
									updatedAt: string;
								};
								/** @description What was accepted and has no effect, one sentence each; absent where there is nothing. */
								warnings?: string[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete a webhook endpoint
		 * @description It is sent nothing more, not even what has happened before. Its `uid` is free again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`.
							 */
							endpointId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the endpoint. */
									endpointId: string;
									/** @description True. */
									deleted: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List the webhook endpoints
		 * @description In the order of their ids.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * @description How many to answer at most. A number above 250 stands for 250.
							 * @default 50
							 */
							limit?: number | null;
							/** @description `iterator` of an answer, for what follows, or its `prevIterator`, for what comes before. */
							iterator?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									endpoints: {
										/** @description Id of the endpoint. */
										id: string;
										/** @description http(s) URL that events are sent to. */
										url: string;
										description: string | null;
										filterTypes: string[] | null;
										channels: string[] | null;
										/** @description Nothing is sent to it: it was disabled by a call, by its own answer 410, or after five days of failures only. */
										disabled: boolean;
										rateLimit: number | null;
										uid: string | null;
										metadata: null | {
											[key: string]: string;
										};
										/** Format: date-time */
										createdAt: string;
										/** Format: date-time */
										updatedAt: string;
									}[];
									/** @description Where it goes on; null at the end. */
									iterator: string | null;
									/** @description What comes before; null at the beginning. */
									prevIterator: string | null;
									/** @description Whether this is the end. */
									done: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/secret/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the signing secret of a webhook endpoint
		 * @description Who has it can forge what the endpoint is sent.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`.
							 */
							endpointId: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the endpoint. */
									endpointId: string;
									/** @description `whsec_` and the key as base64, as Standard Webhooks spells it. */
									secret: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/secret/rotate": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Replace the signing secret of a webhook endpoint
		 * @description For `graceSeconds` what is sent is signed with the replaced secret, too. One that was replaced before that signs no longer.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`.
							 */
							endpointId: string;
							/**
							 * @description Time for which the replaced secret signs, too.
							 * @default 86400
							 */
							graceSeconds?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the endpoint. */
									endpointId: string;
									/** @description `whsec_` and the key as base64, as Standard Webhooks spells it. */
									secret: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/test": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Send a sample to a webhook endpoint
		 * @description Queues a signed event that has not happened (`data.test` is true), whatever types and channels the endpoint asks for. What becomes of it is to be seen with `deliveries/get`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`.
							 */
							endpointId: string;
							/**
							 * @description Type of the event.
							 * @default webhook.test
							 */
							eventType?: ("comment_annotation.add" | "comment_annotation.assign" | "comment_annotation.status_change" | "comment_annotation.priority_change" | "comment_annotation.suggestion_accept" | "comment_annotation.suggestion_reject" | "comment.add" | "comment.update" | "comment.delete" | "comment.reaction_add" | "comment.reaction_delete" | "huddle.create" | "huddle.join" | "recorder.done" | "crdt.update_data" | "document.create" | "document.delete" | "presence.join" | "presence.leave" | "webhook.test" | "message.attempt.exhausted") | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/**
									 * Format: id
									 * @description `webhook-id` of the delivery: the same with every attempt.
									 */
									messageId: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhook/endpoints/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Change a webhook endpoint
		 * @description Changes what is given; at least one member beside `endpointId` must be. Null unsets what can be unset. With `disabled` false an endpoint that was disabled for its failures is sent events again.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description Id of the endpoint, or its `uid`.
							 */
							endpointId: string;
							/** @description http(s) URL that events are sent to. */
							url?: string | null;
							description?: string | null;
							filterTypes?: string[] | null;
							channels?: string[] | null;
							/** @description Whether nothing is sent to it. */
							disabled?: boolean | null;
							rateLimit?: number | null;
							metadata?: {
								[key: string]: string | null;
							} | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the endpoint. */
									id: string;
									/** @description http(s) URL that events are sent to. */
									url: string;
									description: string | null;
									filterTypes: string[] | null;
									channels: string[] | null;
									/** @description Nothing is sent to it: it was disabled by a call, by its own answer 410, or after five days of failures only. */
									disabled: boolean;
									rateLimit: number | null;
									uid: string | null;
									metadata: null | {
										[key: string]: string;
									};
									/** Format: date-time */
									createdAt: string;
									/** Format: date-time */
									updatedAt: string;
								};
								/** @description What was accepted and has no effect, one sentence each; absent where there is nothing. */
								warnings?: string[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhookconfig/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read what holds for all webhook endpoints
		 * @description Where it was never configured: `false` and an empty `publicKey`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: Record<string, never>;
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Whether endpoints are sent anything. */
									isEnabled: boolean;
									/** @description Send base64 of the JSON. */
									encodeData: boolean;
									/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
									encryptData: boolean;
									/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
									publicKey: string;
									/** @description Take names, e-mail addresses and content out of what is sent. */
									enableDataProtection: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/advancedwebhookconfig/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Configure what holds for all webhook endpoints
		 * @description Changes what is given; at least one member must be. While they are disabled endpoints are kept, can be neither read nor changed, and are sent nothing.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Whether endpoints are sent anything. */
							isEnabled?: boolean | null;
							/** @description Send base64 of the JSON. */
							encodeData?: boolean | null;
							/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
							encryptData?: boolean | null;
							/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
							publicKey?: string | null;
							/** @description Take names, e-mail addresses and content out of what is sent. */
							enableDataProtection?: boolean | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Whether endpoints are sent anything. */
									isEnabled: boolean;
									/** @description Send base64 of the JSON. */
									encodeData: boolean;
									/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
									encryptData: boolean;
									/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
									publicKey: string;
									/** @description Take names, e-mail addresses and content out of what is sent. */
									enableDataProtection: boolean;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/apikey/create": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Make an API key
		 * @description Makes an API key with an auth token. The data of each API key is its own.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * @description For people; makes no difference.
							 * @enum {string}
							 */
							type: "testing" | "production";
							/**
							 * @description Name for people.
							 * @default
							 */
							apiKeyName?: string | null;
							/** @description Domains or URLs. Of a URL the domain counts, without a leading `www.`; `*.example.com` is every subdomain of example.com, of any depth, and not example.com itself. None: pages of all domains. */
							allowedDomains?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description The new API key. */
									apiKey: string;
									/** @description Its auth token. */
									authToken: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/apikeys/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List the API keys of the workspace
		 * @description In the order of the keys.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * @description How many to answer at most. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description The API key. */
									id: string;
									/** @description Name for people. */
									apiKeyName: string;
									/**
									 * @description For people; makes no difference.
									 * @enum {string}
									 */
									type: "testing" | "production";
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/audit/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List who did what
		 * @description The audit log of the workspace, by time: calls that administrate, delete or hand out secrets, or, by an option of the server, all that change something; counted failures to authenticate as one of its API keys or as the workspace; and what starts of the server have changed. A record is there before its call is answered, and kept for 90 days (an option of the server). A page may have fewer than asked for, also none: go on until there is no `pageToken`.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Only those of this operation. */
							operation?: string | null;
							/** @description Only those by this API key, or that name it. */
							apiKey?: string | null;
							/** @description Only those by such. */
							actor?: ("key" | "workspace" | "operator" | "nobody") | null;
							/** @description Only later ones, in epoch milliseconds. */
							after?: number | null;
							/** @description Only earlier ones, in epoch milliseconds. */
							before?: number | null;
							/**
							 * @description By time.
							 * @default desc
							 */
							order?: ("asc" | "desc") | null;
							/**
							 * @description How many to answer at most. A number above 1000 stands for 1000.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description From the answer before, to go on where it ended; everything else has to be as it was there. */
							pageToken?: string | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Sorts as time does. */
									auditId: string;
									/** @description When the call came, in epoch milliseconds. */
									timestamp: number;
									/** @description Path of the operation; `authentication.key`, `.workspace` or `.realtime` of refusals; `start.…` of what a start of the server has changed. */
									operation: string;
									/**
									 * @description What the caller had to show for it.
									 * @enum {string}
									 */
									actor: "key" | "workspace" | "operator" | "nobody";
									/** @description API key that was shown, or, of refusals, tried. */
									apiKey?: string;
									/** @description Where the call came from. */
									clientAddress?: string;
									/** @description `x-request-id` of the call. */
									requestId?: string;
									/** @description `success`, or the status of the error. `UNKNOWN`: the call is being carried out, or the server died under it. */
									outcome: string;
									/** @description Ids that the call names, or that it made, by the member that holds them. */
									ids: {
										[key: string]: string[];
									};
									/** @description Ids that were too many to be kept. */
									idsLeftOut?: number;
									/** @description First 32 hex digits of the SHA-256 of the `idempotency-key` header. */
									idempotencyKeyHash?: string;
									/** @description True: it was answered what an earlier call with its key was answered, and nothing was done. */
									replayed?: boolean;
									/** @description Of failures to authenticate, which are counted for a minute at a time. */
									refusals?: {
										/** @description How many. */
										count: number;
										/** @description When the first of them came, in epoch milliseconds. */
										since: number;
									};
								}[];
								/** @description Send it with the same query for the next page; absent at the end. */
								pageToken?: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/authtoken/reset": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Replace the auth token of an API key
		 * @description Of the tokens that were good before none is good for longer than `graceSeconds`. A token that the configuration of the server names is put back at its next start.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description API key of the workspace.
							 */
							apiKey: string;
							/**
							 * @description Time for which the replaced token stays good.
							 * @default 0
							 */
							graceSeconds?: number | null;
							/** @description Domains of the pages that may use the new token; none: any. Without it those of the token replaced. Domains or URLs. Of a URL the domain counts, without a leading `www.`; `*.example.com` is every subdomain of example.com, of any depth, and not example.com itself. */
							domains?: string[] | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									apiKey: string;
									newAuthToken: {
										/** @description The auth token of the API key. */
										token: string;
										/** @description Name for people. */
										name: string;
										/** @description Domains of the pages that may use the token; none: any. */
										domains: string[];
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/mintingsecret/reset": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Create or replace the minting secret of an API key
		 * @description A backend signs realtime tokens with it (HS256) for this API key alone. The secret is returned only here. The secret before it stays valid for `graceSeconds`; older ones end at once.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description API key of the workspace.
							 */
							apiKey: string;
							/**
							 * @description Time for which the replaced secret stays valid.
							 * @default 0
							 */
							graceSeconds?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									apiKey: string;
									mintingSecret: {
										/** @description Id of the secret. */
										id: string;
										/** @description Epoch milliseconds. */
										createdAt: number;
										/** @description Epoch milliseconds; absent for the current secret. */
										validUntil?: number;
									};
									/** @description The secret. Store it in your backend. */
									secret: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/mintingsecrets/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List the minting secrets of an API key
		 * @description Returns the valid ones, newest first, without the secrets themselves.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description API key of the workspace.
							 */
							apiKey: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									apiKey: string;
									mintingSecrets: {
										/** @description Id of the secret. */
										id: string;
										/** @description Epoch milliseconds. */
										createdAt: number;
										/** @description Epoch milliseconds; absent for the current secret. */
										validUntil?: number;
									}[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/mintingsecret/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Delete the minting secrets of an API key
		 * @description Deletes the current secret and the one before it. Tokens that they signed, and their sockets, end.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description API key of the workspace.
							 */
							apiKey: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									apiKey: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/workspaceauthtoken/reset": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Replace the auth token of the workspace
		 * @description Of the tokens of the workspace that were good before none is good for longer than `graceSeconds`. A token that the configuration of the server names is put back at its next start: put the new one there.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * @description Time for which the replaced token stays good.
							 * @default 0
							 */
							graceSeconds?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the workspace. */
									workspaceId: string;
									/** @description Its auth token from now on. */
									newWorkspaceAuthToken: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/authtokens/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the auth tokens of an API key
		 * @description Tokens that have been replaced and are still good for a while are not among them.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description API key of the workspace.
							 */
							apiKey: string;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									apiKey: string;
									authTokens: {
										/** @description The auth token of the API key. */
										token: string;
										/** @description Name for people. */
										name: string;
										/** @description Domains of the pages that may use the token; none: any. */
										domains: string[];
									}[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/create": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Make a workspace
		 * @description Makes a workspace with one API key for testing and one auth token for that.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description E-mail address of the owner, who may have several workspaces. */
							ownerEmail: string;
							/** @description Name of the owner; what stands before the @ unless given. */
							name?: string | null;
							/** @description Name of the workspace; `{name} workspace` unless given. */
							workspaceName?: string | null;
							/** @description URL (http or https) of a picture of the owner. */
							avatar?: string | null;
							/** @description Bytes that the workspace may store; 0 means unlimited. Unless given, the option `maxStoredBytesPerWorkspace` decides. */
							storedBytesMax?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the workspace. */
									id: string;
									/** @description Name of the workspace. */
									name: string;
									owner: {
										/** @description E-mail address. */
										email: string;
										/** @description Id made for the owner. */
										id: string;
										/** @description Display name. */
										name: string;
										/** @description URL of a picture; '' when there is none. */
										avatar: string;
									};
									/** @description The workspace auth token. */
									authToken: string;
									/** @description By API key. */
									apiKeyList: {
										[key: string]: {
											/** @description The API key. */
											id: string;
											/** @description Name for people. */
											apiKeyName: string;
											/**
											 * @description For people; makes no difference.
											 * @enum {string}
											 */
											type: "testing" | "production";
										};
									};
									/** @description The API key that the workspace is made with. */
									apiKey: string;
									/** @description Auth token of that API key. */
									apiKeyAuthToken: string;
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/storagelimit/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Limit the storage of a workspace
		 * @description Sets how many bytes a workspace may store. Nodes follow within 10 seconds.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/**
							 * Format: id
							 * @description The workspace.
							 */
							workspaceId: string;
							/** @description Bytes that the workspace may store; 0 means unlimited. Unless given, the option `maxStoredBytesPerWorkspace` decides. */
							storedBytesMax?: number | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/domains/add": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Allow domains
		 * @description As soon as an API key has domains, pages of other domains may neither connect nor call. What sends no `Origin` is not a page, and not concerned.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Domains or URLs. Of a URL the domain counts, without a leading `www.`; `*.example.com` is every subdomain of example.com, of any depth, and not example.com itself. */
							domains: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description As they are stored. */
									domainsAdded: string[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/domains/delete": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Allow domains no longer
		 * @description Without any domain left pages of all domains may connect.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Domains or URLs. Of a URL the domain counts, without a leading `www.`; `*.example.com` is every subdomain of example.com, of any depth, and not example.com itself. */
							domains: string[];
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description As they are stored. */
									domainsRemoved: string[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/domains/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List the allowed domains
		 * @description At most 1000, in the order in which they were added.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: Record<string, never>;
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description None: pages of all domains. */
									allowedDomains: string[];
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the workspace
		 * @description Answers the workspace and its API keys (at most 1000). Limited to some calls a minute.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: Record<string, never>;
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Id of the workspace. */
									id: string;
									/** @description Name of the workspace. */
									name: string;
									owner: {
										/** @description E-mail address. */
										email: string;
										/** @description Id made for the owner. */
										id: string;
										/** @description Display name. */
										name: string;
										/** @description URL of a picture; '' when there is none. */
										avatar: string;
									};
									/** @description The workspace auth token. */
									authToken: string;
									/** @description By API key. */
									apiKeyList: {
										[key: string]: {
											/** @description The API key. */
											id: string;
											/** @description Name for people. */
											apiKeyName: string;
											/**
											 * @description For people; makes no difference.
											 * @enum {string}
											 */
											type: "testing" | "production";
										};
									};
									/** @description Absent if the workspace has no storage limit. */
									storage?: {
										/** @description Bytes that the workspace stores (an estimate). */
										storedBytes: number;
										/** @description Bytes that it may store. */
										storedBytesMax: number;
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/webhookconfig/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Read the configuration of the basic webhook service
		 * @description Where it was never configured: `false`, empty strings and no triggers.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: Record<string, never>;
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Whether the service is on. */
									useWebhookService: boolean;
									webhookServiceConfig: {
										/** @description Sent with every request, as `Authorization: Basic …`; '' for none. Printable ASCII. */
										authToken: string;
										/** @description http(s) URL that is sent every event whose trigger is on; '' for none. */
										rawNotificationUrl: string;
										/** @description Like `rawNotificationUrl`; what it is sent names the recipients; '' for none. */
										processedNotificationUrl: string;
										/** @description Send base64 of the JSON. */
										encodeData: boolean;
										/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
										encryptData: boolean;
										/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
										publicKey: string;
										/** @description The trigger of this name, next to the triggers. If they differ, data are protected. */
										enableDataProtection?: boolean;
										/** @description By name: `comment_annotation.add`, `comment_annotation.assign`, `comment_annotation.status_change`, `comment_annotation.priority_change`, `comment_annotation.suggestion_accept`, `comment_annotation.suggestion_reject`, `comment.add`, `comment.update`, `comment.delete`, `comment.reaction_add`, `comment.reaction_delete`, `huddle.create`, `huddle.join`, `recorder.done`, `crdt.update_data`, `document.create`, `document.delete`, `presence.join`, `presence.leave`, `message.attempt.exhausted`, `enableDataProtection`. The last one takes names, e-mail addresses and content out of what is sent. Other names are stored, and switch nothing: `warnings` lists them. All together at most 16384 bytes as JSON. */
										triggers: {
											[key: string]: boolean | {
												[key: string]: boolean;
											};
										};
									};
								};
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
	"/v2/workspace/webhookconfig/update": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Configure the basic webhook service
		 * @description Changes what is given, of triggers too; at least one of the two members must be. Where no triggers are stored, enabling the service turns on those of comments, but for suggestions, and of huddles, and what is given goes over that. Events that happen after the answer are told as it says.
		 */
		post: {
			parameters: {
				query?: never;
				header?: never;
				path?: never;
				cookie?: never;
			};
			requestBody: {
				content: {
					"application/json": {
						data: {
							/** @description Whether the service is on. */
							useWebhookService?: boolean | null;
							webhookServiceConfig?: {
								/** @description Sent with every request, as `Authorization: Basic …`; '' for none. Printable ASCII. */
								authToken?: string | null;
								/** @description http(s) URL that is sent every event whose trigger is on; '' for none. */
								rawNotificationUrl?: string | null;
								/** @description Like `rawNotificationUrl`; what it is sent names the recipients; '' for none. */
								processedNotificationUrl?: string | null;
								/** @description Send base64 of the JSON. */
								encodeData?: boolean | null;
								/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
								encryptData?: boolean | null;
								/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
								publicKey?: string | null;
								/** @description The trigger of this name, next to the triggers. If they differ, data are protected. */
								enableDataProtection?: boolean | null;
								/** @description By name: `comment_annotation.add`, `comment_annotation.assign`, `comment_annotation.status_change`, `comment_annotation.priority_change`, `comment_annotation.suggestion_accept`, `comment_annotation.suggestion_reject`, `comment.add`, `comment.update`, `comment.delete`, `comment.reaction_add`, `comment.reaction_delete`, `huddle.create`, `huddle.join`, `recorder.done`, `crdt.update_data`, `document.create`, `document.delete`, `presence.join`, `presence.leave`, `message.attempt.exhausted`, `enableDataProtection`. The last one takes names, e-mail addresses and content out of what is sent. Other names are stored, and switch nothing: `warnings` lists them. All together at most 16384 bytes as JSON. A group stands for its members, and a member goes before its group: `crdt` (`crdt.update_data`), `recorder` (`recorder.done`), `huddle` (`huddle.create`, `huddle.join`). A map switches members by their last names: `"huddle": { "create": true }`. */
								triggers?: {
									[key: string]: boolean | {
										[key: string]: boolean | null;
									} | null;
								} | null;
							} | null;
						};
					};
				};
			};
			responses: {
				/** @description Done. */
				200: {
					headers: {
						[name: string]: unknown;
					};
					content: {
						"application/json": {
							result: {
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Whether the service is on. */
									useWebhookService: boolean;
									webhookServiceConfig: {
										/** @description Sent with every request, as `Authorization: Basic …`; '' for none. Printable ASCII. */
										authToken: string;
										/** @description http(s) URL that is sent every event whose trigger is on; '' for none. */
										rawNotificationUrl: string;
										/** @description Like `rawNotificationUrl`; what it is sent names the recipients; '' for none. */
										processedNotificationUrl: string;
										/** @description Send base64 of the JSON. */
										encodeData: boolean;
										/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
										encryptData: boolean;
										/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
										publicKey: string;
										/** @description The trigger of this name, next to the triggers. If they differ, data are protected. */
										enableDataProtection?: boolean;
										/** @description By name: `comment_annotation.add`, `comment_annotation.assign`, `comment_annotation.status_change`, `comment_annotation.priority_change`, `comment_annotation.suggestion_accept`, `comment_annotation.suggestion_reject`, `comment.add`, `comment.update`, `comment.delete`, `comment.reaction_add`, `comment.reaction_delete`, `huddle.create`, `huddle.join`, `recorder.done`, `crdt.update_data`, `document.create`, `document.delete`, `presence.join`, `presence.leave`, `message.attempt.exhausted`, `enableDataProtection`. The last one takes names, e-mail addresses and content out of what is sent. Other names are stored, and switch nothing: `warnings` lists them. All together at most 16384 bytes as JSON. */
										triggers: {
											[key: string]: boolean | {
												[key: string]: boolean;
											};
										};
									};
								};
								/** @description What was accepted and has no effect, one sentence each; absent where there is nothing. */
								warnings?: string[];
							};
						};
					};
				};
			};
		};
		delete?: never;
		options?: never;
		head?: never;
		patch?: never;
		trace?: never;
	};
}
export type webhooks = Record<string, never>;
export interface components {
	schemas: {
		Error: {
			error: {
				/** @enum {string} */
				status: "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "UNAUTHENTICATED" | "PERMISSION_DENIED" | "NOT_FOUND" | "ALREADY_EXISTS" | "ABORTED" | "RESOURCE_EXHAUSTED" | "INTERNAL" | "UNAVAILABLE";
				/** @description For people. */
				message: string;
				details: {
					/**
					 * @description The cause. It is stable, and the page `/docs/errors/<code>` describes it.
					 * @enum {string}
					 */
					code: "request/malformed" | "request/expectation-unsupported" | "request/headers-too-large" | "request/chunk-extensions-too-large" | "request/timeout" | "request/unknown-path" | "request/method" | "request/content-type" | "request/body-too-large" | "request/invalid-json" | "request/too-deep" | "request/invalid-member" | "request/unknown-member" | "request/repeated-item" | "request/too-many-users" | "request/page-token" | "request/conflict" | "idempotency/invalid-key" | "idempotency/key-reused" | "idempotency/in-progress" | "idempotency/outcome-unknown" | "idempotency/response-not-kept" | "auth/missing-credentials" | "auth/invalid-credentials" | "auth/credentials-mismatch" | "auth/origin-not-allowed" | "auth/loopback-only" | "auth/admin-token-unset" | "auth/metrics-token" | "auth/token-too-long" | "auth/too-many-results" | "auth/resource-not-found" | "limit/exceeded" | "server/internal" | "server/not-ready" | "server/store-unavailable" | "server/stopping" | "server/background-failed" | "server/no-documentation" | "backup/nothing-stored" | "backup/busy" | "backup/too-slow" | "websocket/invalid-handshake" | "websocket/unknown-path" | "location/ambiguous-document" | "workspace/not-found" | "api-key/not-found" | "api-key/too-many" | "domain/too-many" | "domain/partly-changed" | "organization/not-found" | "organization/exists" | "organization/being-deleted" | "organization/removal-in-progress" | "folder/not-found" | "folder/exists" | "folder/being-deleted" | "folder/too-many" | "folder/too-deep" | "folder/below-itself" | "folder/root" | "folder/response-too-large" | "document/not-found" | "document/exists" | "document/being-deleted" | "document/disabled" | "document/damaged" | "group/not-found" | "group/user-not-found" | "group/too-many-of-user" | "user/not-found" | "user/no-role" | "activity/not-found" | "crdt/no-content" | "crdt/content-exists" | "crdt/root-not-found" | "crdt/root-kind-mismatch" | "crdt/invalid-content-key" | "crdt/invalid-content" | "crdt/content-limit" | "crdt/document-too-large" | "crdt/malformed-update" | "crdt/update-incomplete" | "crdt/update-too-expensive" | "crdt/document-expensive" | "crdt/document-changed" | "crdt/version-conflict" | "crdt/base-version-too-old" | "crdt/too-many-editors" | "version/not-found" | "version/too-many" | "presence/too-many-users" | "comment/annotation-not-found" | "comment/not-found" | "comment/annotation-id-taken" | "comment/id-taken" | "comment/too-many" | "comment/no-suggestion" | "comment/reaction-not-found" | "comment/reaction-exists" | "comment/too-many-reactions" | "notification/not-found" | "notification/not-addressed" | "notification/too-many-users" | "memory/judgment-not-found" | "webhook/never-configured" | "webhook/disabled" | "webhook/public-key-missing" | "webhook/endpoint-not-found" | "webhook/endpoint-disabled" | "webhook/too-many-endpoints" | "webhook/uid-taken" | "webhook/message-not-found";
					/** @description What is wrong with the request, where it does not fit its schema. */
					issues?: {
						/** @description JSON pointer into the body. */
						path: string;
						message: string;
					}[];
				};
			};
		};
	};
	responses: never;
	parameters: never;
	requestBodies: never;
	headers: never;
	pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
