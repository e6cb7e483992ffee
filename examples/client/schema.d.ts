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
		 * @description Adds a notification of a document for the named users, and for all current users of the organization unless `notifyAll` is false. With an id that exists already, nothing is added (`success: false`), so you can repeat the call safely.
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
							/** @description User who took the action. */
							actionUser: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							};
							/** @description Letters (a to z), digits, `_` and `-`; default: generated. */
							notificationId?: string | null;
							/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. An unknown placeholder stays in the text. */
							displayHeadlineMessageTemplate: string;
							/** @description Values of the placeholders: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
							displayHeadlineMessageTemplateData?: {
								[key: string]: unknown;
							} | null;
							displayBodyMessage: string;
							/** @description Any data about the notification, at most 16384 bytes of JSON. */
							notificationSourceData?: {
								[key: string]: unknown;
							} | null;
							/** @description Recipients; they need not be users of the organization. At most 131072 bytes of JSON. */
							notifyUsers: {
								/** Format: id */
								userId: string;
								/** @description Display name. */
								name?: string | null;
								email?: string | null;
							}[];
							/**
							 * @description True: notifies all users of the organization in addition to `notifyUsers`.
							 * @default true
							 */
							notifyAll?: boolean | null;
							/**
							 * @description True: creates the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description True: creates the document, without a folder, if it does not exist.
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
									/** @description The given or generated id. */
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
		 * @description Returns documents by id, without unknown ids; or all documents of the organization at once. For large organizations use version 2, which has pages.
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
							/** @description Default: all documents of the organization. */
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
									/** @description '' if not given. */
									documentName: string;
									disabled: boolean;
									/**
									 * @description Effective access type: its own, else that of its folder, else `public`.
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
		 * @description Removes the annotations of a location of a document, with their comments, reactions, activities and judgments, the activities of annotations that were deleted there before, and all activities that name the location, such as activities of recordings. The response comes when everything is deleted; there is no event. An unknown location is a success. The body must repeat the credentials of the headers.
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
		 * @description Omitted members keep their values.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Also into each other, in any order. An existing folder is not changed (`success: false`).
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
								/** @description Id of the parent folder; `root` at the top. */
								parentFolderId?: string | null;
							}[];
							/** @description True: creates the named organization, and the folder or document in it, if they do not exist. Default: the option `createMissing` of the server. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes the folder with all folders and documents in it, and their content. Connections to these are closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.
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
		 * @description Returns all folders of the organization, or one folder with its direct subfolders.
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
							/** @description Default: all folders. */
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
									/** @description '' if not given. */
									folderName: string;
									/**
									 * Format: id
									 * @description Id of the organization.
									 */
									organizationId: string;
									/**
									 * Format: id
									 * @description Id of the parent folder; `root` at the top.
									 */
									parentFolderId: string;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Records of its subfolders, down to the requested depth; only if the request names a folder. */
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
		 * @description Omitted members keep their values. With another `parentFolderId` the folder moves there with its content. The server checks the moves of a call together, and rejects all moves that would put folders into themselves.
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
								/** @description Id of the parent folder; `root` at the top. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Creates groups of users; permissions can be granted to groups as to users. An existing group gets the given name.
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
								/** @description Name of the group; default for a new group: its id. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description A group that does not exist is created without grants, with its id as its name, and `groupCreated` is true. The users need not be users of the organization; `/v2/users/update` describes them. Members of the group stay in it. A user is in at most 200 groups of an organization.
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
								/** @description By user id. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this user. */
										success: boolean;
										organizationUserGroupId: string;
										/** @description Result, or the reason of the failure. */
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
										/** @description True: this call created the group; else absent. */
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
		 * @description Removes the named users, or all users, from a group. The users stay in the organization. They lose the permissions from the group within one second.
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
							/** @description Users to remove; required unless `deleteAll`. */
							userIds?: string[] | null;
							/**
							 * @description True: removes all users, up to 10000 in one call; the message reports whether more remain. Not together with `userIds`.
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
								/** @description By user id. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this user. */
										success: boolean;
										organizationUserGroupId: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Adds activities of a document, with the current time. An activity with an existing id is replaced, but keeps its time. Activities of the types `huddle.create`, `huddle.join` and `recorder.done` also cause an event, once each.
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
								/** @description Unique in the organization; default: generated. An activity with an existing id is replaced. */
								id?: string | null;
								/**
								 * @description Subject of the activity.
								 * @enum {string}
								 */
								featureType: "comment" | "reaction" | "recorder" | "crdt" | "custom";
								/**
								 * Format: id
								 * @description Name of the action, such as `comment.add`.
								 */
								actionType: string;
								/** @description Who did it. */
								actionUser: {
									/** Format: id */
									userId: string;
									name?: string | null;
									email?: string | null;
								};
								/** @description Target of the action, such as an annotation; required for `custom` activities. */
								targetEntityId?: string | null;
								/** @description The place in the document. It is deleted with the data of this location. */
								location?: {
									/** Format: id */
									id: string;
									locationName?: string | null;
								} | null;
								/** @description Values before and after the change. The server reads only users in it: objects with a `userId`. */
								changes?: {
									[key: string]: unknown;
								} | null;
								/** @description Text for users. `{{name}}` stands for a member of `displayMessageTemplateData`. */
								displayMessageTemplate?: string | null;
								/** @description Values of the placeholders. An object with a `name`, such as a user, is shown by its name. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes activities of the document, named by `activityIds`, by `activities`, or by both. An activity that the document does not have is `success: false`.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Lists activities that match all filters, by time. An activity that exists from the first page to the last is returned exactly once. A page may have fewer items than requested, or no items, if filters are narrow or activities are large: continue until there is no `pageToken`.
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
							/** @description Only activities of this document. */
							documentId?: string | null;
							/** @description Only activities on this target, such as an annotation. */
							targetEntityId?: string | null;
							featureTypes?: ("comment" | "reaction" | "recorder" | "crdt" | "custom" | "administration")[] | null;
							actionTypes?: string[] | null;
							/** @description Only activities of this acting user. */
							userId?: string | null;
							/** @description Only these. */
							activityIds?: string[] | null;
							/**
							 * @description By timestamp.
							 * @default desc
							 */
							order?: ("asc" | "desc") | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									 * @description Subject of the activity. `administration`: changes of organizations, documents, folders, users, groups and permissions.
									 * @enum {string}
									 */
									featureType: "comment" | "reaction" | "recorder" | "crdt" | "custom" | "administration";
									/**
									 * Format: id
									 * @description Name of the action, such as `comment.add`.
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
									 * @description Target of the action, such as an annotation; required for `custom` activities.
									 */
									targetEntityId?: string;
									/** @description The place in the document. It is deleted with the data of this location. */
									location?: {
										/** Format: id */
										id: string;
										locationName?: string;
									};
									/** @description Values before and after the change. The server reads only users in it: objects with a `userId`. */
									changes?: {
										[key: string]: unknown;
									};
									/** @description Text for users. `{{name}}` stands for a member of `displayMessageTemplateData`. */
									displayMessageTemplate?: string;
									/** @description Values of the placeholders. An object with a `name`, such as a user, is shown by its name. */
									displayMessageTemplateData?: {
										[key: string]: unknown;
									};
									metadata: {
										apiKey: string;
										organizationId: string;
										/** @description Absent without a document. */
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
		 * @description Changes the given members of activities of the document; omitted members and the time stay. An unknown activity is not created (`success: false`).
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
								/** @description Subject of the activity. */
								featureType?: ("comment" | "reaction" | "recorder" | "crdt" | "custom") | null;
								/** @description Name of the action, such as `comment.add`. */
								actionType?: string | null;
								/** @description Who did it. */
								actionUser?: {
									/** Format: id */
									userId: string;
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description Target of the action, such as an annotation; required for `custom` activities. */
								targetEntityId?: string | null;
								/** @description The place in the document. It is deleted with the data of this location. */
								location?: {
									/** Format: id */
									id: string;
									locationName?: string | null;
								} | null;
								/** @description Values before and after the change. The server reads only users in it: objects with a `userId`. */
								changes?: {
									[key: string]: unknown;
								} | null;
								/** @description Text for users. `{{name}}` stands for a member of `displayMessageTemplateData`. */
								displayMessageTemplate?: string | null;
								/** @description Values of the placeholders. An object with a `name`, such as a user, is shown by its name. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Creates a token with which a user opens realtime connections to the documents of the API key. Hand it to the browser instead of your credentials.
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
							/** @description Permissions of the token; if a resource occurs twice, the last entry counts. Without it, the token has the permissions of its user. */
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
									/** @description Expiry of the permission, in Unix seconds; default: no expiry. A time in the past revokes it now. */
									expiresAt?: number | null;
								}[];
							} | null;
							/** @default 172800 */
							expiresInSeconds?: number | null;
							/**
							 * @description `y-sweet`: the response is a token for Y-Sweet's client, for one `document`, or without `docId`.
							 * @default weft
							 */
							format?: ("weft" | "y-sweet") | null;
							/** @description Document of a token of format `y-sweet`; it grants no permission. */
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
									/** @description Only for format `y-sweet`: start of the websocket URL. */
									url?: string;
									/** @description Only for format `y-sweet`: URL of the server. */
									baseUrl?: string;
									/** @description Only for format `y-sweet`: name of the document for its client. */
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
	"/v2/auth/inspect_token": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Inspect a realtime token
		 * @description Returns the user, the expiry and the permissions of a token of the API key, or why the server rejects the token. For a document, it also returns the present role. The server neither stores nor logs the token. It does not check whether the domain of a page may use the API key.
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
							/** @description The token, as clients send it. */
							token: string;
							/** @description Organization of the document. */
							organizationId?: string | null;
							/** @description Document whose role is computed. */
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
								/** @enum {string} */
								status: "success";
								/** @description For people. */
								message: string;
								data: {
									/** @description Whether a client can connect with this token now. */
									accepted: boolean;
									/** @description Why the server rejects the token: `malformed`, `signature`, `expired`, `claims`, `tenant`, `revoked`, `provider`, or `other_key`, if the token is for another API key. */
									reason?: string;
									/** @description The reason as a sentence. */
									message?: string;
									/** @description User of an accepted token, as in all further members. */
									userId?: string;
									name?: string;
									email?: string;
									/** @description Whether the user is an editor of all documents. */
									isAdmin?: boolean;
									/** @description Epoch milliseconds; 0: the token has no `iat`. */
									issuedAt?: number;
									/** @description Epoch milliseconds. */
									expiresAt?: number;
									/** @description Permissions of the token; absent if it has all permissions of its user. */
									resources?: {
										/** @enum {string} */
										type: "organization" | "folder" | "document";
										id: string;
										organizationId: string;
										/** @enum {string} */
										accessRole: "viewer" | "editor";
										/** @description Epoch seconds. */
										expiresAt?: number;
									}[];
									/**
									 * @description Present role on the requested document; absent if the request names no document.
									 * @enum {string}
									 */
									accessRole?: "none" | "viewer" | "editor";
									/**
									 * @description `deleted`: it is being removed. A document that does not exist is `open`.
									 * @enum {string}
									 */
									documentState?: "open" | "disabled" | "deleted";
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
		 * @description Grants a user, or a user group, roles on organizations, folders and documents, in place of earlier grants on them. If a resource occurs twice, the last entry counts. If a resource does not exist, nothing is granted. A grant on a document takes precedence over grants on its folders, from the nearest up, and on the organization. A grant to a user takes precedence over grants to groups. An unknown user is added to the organization. Open connections follow within one second.
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
							/** @description A group in place of a user; all resources belong to its organization. */
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
									/** @description Expiry of the permission, in Unix seconds; default: no expiry. A time in the past revokes it now. */
									expiresAt?: number | null;
								}[];
							};
							/** @description True: creates the named organization, and the folder or document in it, if they do not exist. Default: the option `createMissing` of the server. */
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
		 * Read effective permissions of users
		 * @description Effective role of each user in the organization, and on each of the folders and documents: by grants, groups, inheritance and access types. The role on a folder is the role on a document in it that has no settings of its own. In the organization itself, users without a grant on it are viewers if they have a grant within it, and else denied.
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
								/** @description By user id. */
								data: {
									[key: string]: {
										/** @description By resource id. */
										organization: {
											[key: string]: {
												/**
												 * @description Effective role of the user there; absent without access.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description Effective access type, inherited or not; absent for organizations.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
												expiresAt?: number;
												error?: string;
												/** @description Reason of the role, or of its absence; absent if the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: the source that denies access.
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
										/** @description By resource id. */
										folders: {
											[key: string]: {
												/**
												 * @description Effective role of the user there; absent without access.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description Effective access type, inherited or not; absent for organizations.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
												expiresAt?: number;
												error?: string;
												/** @description Reason of the role, or of its absence; absent if the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: the source that denies access.
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
										/** @description By resource id. */
										documents: {
											[key: string]: {
												/**
												 * @description Effective role of the user there; absent without access.
												 * @enum {string}
												 */
												accessRole?: "viewer" | "editor";
												/**
												 * @description Effective access type, inherited or not; absent for organizations.
												 * @enum {string}
												 */
												accessType?: "public" | "organizationPrivate" | "restricted";
												/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
												expiresAt?: number;
												error?: string;
												/** @description Reason of the role, or of its absence; absent if the resource does not exist. */
												reason?: {
													/**
													 * @description A grant to the user, a grant to a group of the user, the access type, or membership of the organization (any grant in it). Without a role: the source that denies access.
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
		 * Revoke permissions
		 * @description Revokes the grants of a user, or a user group, on the named resources themselves. Access by other grants and by access types stays. A missing grant or resource is not an error. Open connections follow within one second.
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
							/** @description A group in place of a user; all resources belong to its organization. */
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
		 * @description Rejects all tokens issued for the user until now. The connections that they opened are closed with 4401. Tokens without an `iat` claim count as issued before.
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
									/** @description The named user. */
									userId: string;
									/** @description Unix time in milliseconds: tokens whose `iat` is not later are rejected. */
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
		 * @description Starts threads of comments on a document. With an id that exists already, nothing is added (`success: false`), so you can repeat the call safely. At most 500 comments in one call, 1000 in a thread. Events: `comment_annotation.add`, and `comment.add` for each comment.
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
							/** @description Location of annotations without a location of their own. */
							location?: ({
								/** Format: id */
								id: string;
								locationName?: string | null;
							} & {
								[key: string]: unknown;
							}) | null;
							annotations: {
								/** @description Unique in the organization; default: generated. */
								annotationId?: string | null;
								/** @description A place in your application, such as a page or a view. Other members are kept as they are; at most 4096 bytes of JSON. */
								location?: ({
									/** Format: id */
									id: string;
									locationName?: string | null;
								} & {
									[key: string]: unknown;
								}) | null;
								/** @description Position of the annotation in the content of an editor. */
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
									 * @description Yjs relative position, encoded and base64. It keeps its place while the content changes.
									 */
									position: string;
									/** @description The same, of the end of a range. */
									positionEnd?: string | null;
								} | null;
								status?: ("open" | "resolved") | null;
								/** @description Any name of a priority; null: none. */
								priority?: string | null;
								/** @description User to whom the annotation is assigned; null: unassigned. */
								assignedTo?: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description Makes the annotation a suggestion, which can be accepted or rejected. */
								suggestion?: {
									/** @description Suggested content: any JSON of at most 16384 bytes. */
									content?: unknown;
								} | null;
								comments?: {
									/** @description Unique in the annotation; default: generated. */
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
							 * @description True: creates the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description True: creates the document, without a folder, if it does not exist.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
								/** @description Unique in the annotation; default: generated. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description All comments of an annotation, the oldest first. A page may have fewer items than requested: continue until there is no `pageToken`.
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
							/** @description Only comments with these ids, in this order and without pages. */
							commentIds?: string[] | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
		 * @description Adds reactions to a comment, which has at most 100 with 32768 bytes of JSON. The server does not add reactions beyond these limits, with an existing id, or repeated by the same user (`success: false`). Event: `comment.reaction_add`.
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
								/** @description Unique in the comment; default: generated. */
								reactionId?: string | null;
								/** @description Such as an emoji. */
								reaction: string;
								/** @description User who reacts; default: `actionUser`. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Annotations of a document with their first comments, by creation time, that match all filters. An annotation that exists from the first page to the last is returned exactly once. A page may have fewer items than requested, or no items: continue until there is no `pageToken`.
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
							/** @description Only annotations with these ids, in this order and without pages. */
							annotationIds?: string[] | null;
							/** @description Only annotations in one of these locations. */
							locationIds?: string[] | null;
							statuses?: ("open" | "resolved")[] | null;
							/** @description Only annotations that this user created, commented on or reacted to, or that are assigned to this user. */
							userId?: string | null;
							/**
							 * @description By time: the newest first, or the oldest.
							 * @default desc
							 */
							order?: ("desc" | "asc") | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
										 * @description Yjs relative position, encoded and base64. It keeps its place while the content changes.
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
									/** @description Any name of a priority; null: none. */
									priority: string | null;
									/** @description User to whom the annotation is assigned; null: unassigned. */
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
										/** @description Null if not given. */
										content: unknown;
									} | null;
									/** @description The oldest ones: 50 at most, and no more than about 1048576 bytes. `comments/get` returns all. */
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
									/** @description Total number of comments. */
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
									/** @description Epoch milliseconds of the last change of the annotation itself, without its comments. */
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
		 * @description Changes the given members of annotations; omitted members keep their values. Some changed members cause an event: `comment_annotation.status_change`, `.priority_change`, `.assign`, `.suggestion_accept`, `.suggestion_reject`. Other changes cause only the activity `comment_annotation.update`. An accepted or rejected suggestion is also stored as a judgment of `actionUser` about the text of the first comment.
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
								/** @description A place in your application, such as a page or a view. Other members are kept as they are; at most 4096 bytes of JSON. */
								location?: ({
									/** Format: id */
									id: string;
									locationName?: string | null;
								} & {
									[key: string]: unknown;
								}) | null;
								/** @description Position of the annotation in the content of an editor. */
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
									 * @description Yjs relative position, encoded and base64. It keeps its place while the content changes.
									 */
									position: string;
									/** @description The same, of the end of a range. */
									positionEnd?: string | null;
								} | null;
								status?: ("open" | "resolved") | null;
								/** @description Any name of a priority; null: none. */
								priority?: string | null;
								/** @description User to whom the annotation is assigned; null: unassigned. */
								assignedTo?: {
									/** Format: id */
									userId: string;
									/** @description Display name. */
									name?: string | null;
									email?: string | null;
								} | null;
								/** @description Exactly one member. */
								suggestion?: {
									/** @description True: the suggestion is accepted. */
									accept?: boolean | null;
									/** @description True: it is rejected. */
									reject?: boolean | null;
									/** @description Replaces the suggested content; the suggestion is open again. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
	"/v2/connections/close": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * Close live connections
		 * @description Closes connections on any node of the cluster. Their changes up to then stay. A client is closed with 4403 and does not connect again by itself, but its token stays valid: to keep a user out, also revoke the tokens or the permissions of the user. A connection that is closed already is a success.
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
							/** @description Ids from `connections/get`. */
							connectionIds: string[];
							/**
							 * @description Close with 1012 instead, after which clients connect again immediately.
							 * @default false
							 */
							reconnect?: boolean | null;
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
									/** @description Number of connections that were open. */
									closed: number;
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
	"/v2/connections/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List live connections
		 * @description Lists the clients that are connected to documents of the API key, on all nodes of the cluster, the newest first. A client with several documents on one websocket has a connection for each of them. A node that does not answer within 250 ms is left out.
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
							/** @description Only on documents of this organization. */
							organizationId?: string | null;
							/** @description Only on documents with this id. */
							documentId?: string | null;
							/** @description Only of this user. */
							userId?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description For `connections/close`. */
									connectionId: string;
									organizationId: string;
									documentId: string;
									editorId: string;
									/** @description User of the token. */
									userId: string;
									/** @description Display name in the token, at most 200 characters of it. */
									name: string;
									/**
									 * @description Present role of the user.
									 * @enum {string}
									 */
									accessRole: "viewer" | "editor";
									/** @description Wire protocol of the client. */
									protocol: string;
									/** @description IP address of the client. */
									clientAddress: string;
									/** @description Epoch milliseconds. */
									connectedAt: number;
									/** @description Node of the cluster to which the client is connected. */
									node: string;
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
		 * @description If several calls create the same editor at once, exactly one succeeds.
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
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/** @description Author of the change; returned as `lastUpdatedBy`. */
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
									/** @description False if the content was already the same. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; absent after a restoration. */
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
		 * @description For backends that have a Y.Doc of their own. The server skips the parts that the document already has.
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
							 * @description True: creates the document if it does not exist.
							 * @default false
							 */
							create?: boolean | null;
							/** @description Author of the change; returned as `lastUpdatedBy`. */
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
									/** @description False if the document already had the whole update. */
									changed: boolean;
									/** @description Size of the new part. */
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
		 * @description Also deletes their versions. Connections to them are closed permanently, and a client that still has the content cannot restore it. Each editor causes one activity `crdt.editor_delete`.
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
							/** @description Ids of the editors; default: all editors of the document. */
							editorIds?: string[] | null;
							/** @description User who deletes the content; default: `api`. */
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
									/** @description False if there was nothing to delete. */
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
		 * @description The content is durable. An update with the same content changes nothing. Without `editorId`, the response skips editors that do not have the requested root. The content in one response is at most `maxResponseBytes` long; one document with `format` `update` is as long as the document.
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
							/** @description Id of the editor; default: all editors of the document. */
							editorId?: string | null;
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/**
							 * @description `json`: as update takes it for the type found; `text`, `xml`, `delta`, `xmltext`: as update takes it for that type; `update`: base64 of the Yjs state (V1); `roots`: `[{ contentKey, type }]` of all roots, where the type `none` is that of an empty root which may become any. `update` and `roots` need no root of the name `contentKey`.
							 * @default json
							 */
							format?: ("json" | "text" | "xml" | "delta" | "xmltext" | "update" | "roots") | null;
							/**
							 * @description True: also returns statistics of the Yjs structures of each editor.
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
									/** @description User id; '' if the user is not known. */
									lastUpdatedBy: string;
									/** @description Maximum size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Statistics of the whole editor, for any `contentKey`; only with `statistics`. */
									statistics?: {
										/** @description Structs of Yjs in the encoded state: each is a run that was inserted in one go, or deleted in one piece. */
										structs: number;
										/** @description Deleted content that remains as tombstones: characters (UTF-16 code units), and one for each value, shared type, embed and formatting mark. */
										tombstones: number;
										/** @description Client ids that have ever inserted content; each session of an editor has its own id. */
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
		 * @description Applies the smallest change that makes the live document equal to `data`, so that unchanged content keeps its cursors and formatting. Connected clients see the change at once. The same content again changes nothing. With `baseVersion` the change is merged with later edits. With `ifVersion` it is applied only if there are no later edits: use it to repeat a call with an unknown outcome.
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
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root, else `content`. The root of rich-text editors is often called `default`. */
							contentKey?: string | null;
							/** @description Author of the change; returned as `lastUpdatedBy`. */
							userId?: string | null;
							/** @description The version from which `data` was derived. Only the differences to it are applied; later edits stay. */
							baseVersion?: string | null;
							/** @description Reject the call (ABORTED) unless the document is at this version. */
							ifVersion?: string | null;
							/**
							 * @description True: creates the document if it does not exist.
							 * @default false
							 */
							upsert?: boolean | null;
							/**
							 * @description True: returns the changes without applying them; `version` is the current version.
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
									/** @description False if the content was already the same. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; absent after a restoration. */
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
		 * Save a version of an editor
		 * @description Saves the current content until the version, the editor or its document is deleted. Versions of equal content share its space.
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
							/** @description Name of the version; '' without a name. */
							label?: string | null;
							/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
							metadata?: {
								[key: string]: unknown;
							} | null;
							/** @description User who creates the version; returned as `createdBy`. */
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
									 * @description `automatic`: created in the background, or from the content before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description Name of the version; '' without a name. */
									label: string;
									/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' if the user is not known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Users who edited after the previous version, in the order of their first edit; at most 500, without unknown users. */
									authors: {
										userId: string;
										/** @description Absent if not known. */
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
							/** @description Name of the root (the shared type in the Yjs document). Default: the only root, else `content`. The root of rich-text editors is often called `default`. */
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
									 * @description `automatic`: created in the background, or from the content before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description Name of the version; '' without a name. */
									label: string;
									/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' if the user is not known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Users who edited after the previous version, in the order of their first edit; at most 500, without unknown users. */
									authors: {
										userId: string;
										/** @description Absent if not known. */
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
							 * @description Maximum number of items in the response. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									 * @description `automatic`: created in the background, or from the content before a restoration.
									 * @enum {string}
									 */
									kind: "manual" | "automatic";
									/** @description Name of the version; '' without a name. */
									label: string;
									/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
									metadata: {
										[key: string]: unknown;
									};
									/** Format: date-time */
									createdAt: string;
									/** @description User id; '' if the user is not known. */
									createdBy: string;
									/** @description Size of the document as encoded by Yjs. */
									sizeBytes: number;
									/** @description Names this state, as `/v2/crdt/get` does; opaque. */
									version: string;
									/** @description Users who edited after the previous version, in the order of their first edit; at most 500, without unknown users. */
									authors: {
										userId: string;
										/** @description Absent if not known. */
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
		 * @description Applies the smallest change that gives every root of the live document the content of the version, with formatting; roots that the version does not have are emptied. Connected clients see the change at once, and their concurrent edits are merged. The replaced content becomes an automatic version. Restoring again changes nothing.
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
							/** @description Reject the call (ABORTED) unless the document is at this version. */
							ifVersion?: string | null;
							/**
							 * @description True: returns the changes without applying them; `version` is the current version.
							 * @default false
							 */
							dryRun?: boolean | null;
							/** @description User who restores the version; returned as `lastUpdatedBy`. */
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
									/** @description False if the content was already the same. */
									changed: boolean;
									/** @description Size of the update that clients received. */
									bytes: number;
									/** @description Inserted UTF-16 units. */
									insertions: number;
									/** @description Deleted UTF-16 units and embeds. */
									deletions: number;
									/** @description Name of the root that was written; absent after a restoration. */
									contentKey?: string;
									/** @description Id of the version with the replaced content; null without a change. */
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
		 * Send a message to connected clients
		 * @description Sends `{ "event", "data" }` to the clients of the document, or of one of its editors, that have `live=1` in their URL, including viewers. The message is not part of the document and is not stored: a client that is not connected, or that reads too slowly at the moment, misses it. No client gets it twice. Each client gets the messages of consecutive calls in their order.
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
							/** @description Only to clients of this editor; default: clients of all editors of the document. */
							editorId?: string | null;
							/** @description Any name of the event. */
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
									/** @description Always true, also without connected clients. */
									success: boolean;
									/** @description Number of connections to which the message was sent. */
									delivered: number;
									/** @description Number of connections that missed the message because they read too slowly. */
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
		 * @description Stores the decision of a reviewer as a precedent for `/v2/memory/suggest`. Judgments of an organization are deleted with it; judgments of a document stay after its deletion. An API key has at most 100000 judgments with 20000000 characters; beyond that, the server deletes the oldest judgments.
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
							/** @description Description of the case. */
							query: string;
							/**
							 * @description What was decided.
							 * @enum {string}
							 */
							decision: "approve" | "reject";
							/** @description Reason of the decision; '' if not given. */
							reason?: string | null;
							/**
							 * Format: id
							 * @description Who decided.
							 */
							reviewerId: string;
							/** @description Organization of the case. */
							organizationId?: string | null;
							/** @description Document of the case; only together with `organizationId`. */
							documentId?: string | null;
							/** @description Time of the decision, in epoch milliseconds; default: now. */
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
		 * @description Deletes judgments; suggestions no longer use them.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Judgments that match all filters, the newest first. With `query`, the judgments that a suggestion for it would use, the most relevant first. Judgments of an organization include the judgments of its documents.
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
							/** @description Only judgments of similar cases. */
							query?: string | null;
							/** @description What was decided. */
							decision?: ("approve" | "reject") | null;
							/** @description Who decided. */
							reviewerId?: string | null;
							/** @description Organization of the case. */
							organizationId?: string | null;
							/** @description Document of the case; only together with `organizationId`. */
							documentId?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 100 stands for 100.
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
									/** @description Reason of the decision; '' if not given. */
									reason: string;
									/** @description Id of the reviewer; '' if the reviewer was erased. */
									reviewerId: string;
									/** @description Absent without an organization. */
									organizationId?: string;
									/** @description Absent without a document. */
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
		 * @description Suggests to approve or reject a case, from recorded judgments of similar cases. It uses no language model: the same judgments always give the same response. Precedents are judgments that share words with `query` and are at least 0.3 times as relevant (BM25+, times the number of shared words) as the most relevant one; the weight of each is that ratio. The search ignores common English words and, among many judgments, the most common words; for a single common word it uses only the newest 8000 judgments. Precedents belong to the narrowest scope in which one decision has at least 2: the document, the organization, the whole API key. The decision with more weight is `primary`, unless it has fewer than 2 judgments. With equal weights, the number of precedents decides, then the newest precedent. The other decision is `conflict` if both have at least 2. The response has neither `status` nor `message`.
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
							/** @description Description of the case to judge. */
							query: string;
							/** @description Organization of the case. */
							organizationId?: string | null;
							/** @description Document of the case; only together with `organizationId`. */
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
								/** @description The leading decision; null: too few judgments. */
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
									/** @description The same as a text for users. */
									scopeLabel: string;
									/** @description At most 3, the highest weight first. */
									topReasons: string[];
									/** @description Number of reviewers with this decision; all erased reviewers count as one. */
									uniqueReviewers: number;
									/** @description Texts for users: split evidence, support that is mostly older than 6 months, a single reviewer. */
									caveats: string[];
								} | null;
								/** @description The other decision, if both have enough precedents; else null. */
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
									/** @description The same as a text for users. */
									scopeLabel: string;
									/** @description At most 3, the highest weight first. */
									topReasons: string[];
									/** @description Number of reviewers with this decision; all erased reviewers count as one. */
									uniqueReviewers: number;
									/** @description Texts for users: split evidence, support that is mostly older than 6 months, a single reviewer. */
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
		 * Read the notification settings of a user
		 * @description Returns which notifications reach a user, for the named documents, and for the organization if you request it or name no documents.
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
							/** @description True: also returns the settings for the organization. Default: true without `documentIds`. */
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
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
										 * @enum {string}
										 */
										inbox?: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
										 * @enum {string}
										 */
										email?: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
										 * @enum {string}
										 */
										slack?: "ALL" | "MINE" | "NONE";
									};
									/** @description Effective settings: the document's own, else the organization's, else `ALL`. */
									effectiveConfig: {
										/**
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
										 * @enum {string}
										 */
										inbox: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
										 * @enum {string}
										 */
										email: "ALL" | "MINE" | "NONE";
										/**
										 * @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications.
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
		 * Change the notification settings of users
		 * @description Sets which notifications reach users in their inbox, by e-mail and by chat, for the named documents. Without documents, it applies to all documents without settings of their own for the user. Omitted members keep their values.
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
								/** @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications. */
								inbox?: ("ALL" | "MINE" | "NONE") | null;
								/** @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications. */
								email?: ("ALL" | "MINE" | "NONE") | null;
								/** @description `ALL`: every notification; `MINE`: notifications that name the user; `NONE`: no notifications. */
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
								/** @description By user id. */
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
		 * @description Deletes the notifications that match all filters; at least one filter besides the organization is required. One call deletes at most 500, and the message reports whether more remain. With `userId` they are deleted only for that user, and completely if they have no other recipient.
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
							/** @description Only notifications of this document. */
							documentId?: string | null;
							/** @description Only notifications for this user. */
							userId?: string | null;
							/** @description Only notifications with these ids. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Notifications of an organization that match all filters, by time. With `userId` they are the user's inbox: notifications for the user that the user's notification settings allow. A page may have fewer items than requested, or no items: continue until there is no `pageToken`.
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
							/** @description Only notifications of this document. */
							documentId?: string | null;
							/** @description Only notifications for this user. */
							userId?: string | null;
							/** @description Only notifications with these ids. */
							notificationIds?: string[] | null;
							/**
							 * @description By time: the newest first, or the oldest. Ignored with `notificationIds`.
							 * @default desc
							 */
							order?: ("desc" | "asc") | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. An unknown placeholder stays in the text. */
									displayHeadlineMessageTemplate: string;
									/** @description Values of the placeholders: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
									displayHeadlineMessageTemplateData: {
										[key: string]: unknown;
									};
									displayBodyMessage: string;
									/** @description Any data about the notification, at most 16384 bytes of JSON. */
									notificationSourceData: {
										[key: string]: unknown;
									};
									/** @description The headline for the reader `userId`, or for a general reader without `userId`. At most 4000 characters. */
									displayHeadlineMessage: string;
									notifyUsers: {
										/** Format: id */
										userId: string;
										/** @description Display name. */
										name?: string;
										email?: string;
									}[];
									notifyAll: boolean;
									/** @description Ids of users who have read it. With `userId` only that user, else at most 100. */
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
		 * @description Changes the given members of notifications, and marks them as read by users; omitted members keep their values. A notification is not changed if it does not exist, or if a reader is not a recipient (`success: false`).
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
								/** @description Users who have read it, in addition to earlier readers. */
								readByUserIds?: string[] | null;
								/** @description Headline with placeholders in curly brackets: `{actionUser}`, `{recipientUser}`, or a member of the data. An unknown placeholder stays in the text. */
								displayHeadlineMessageTemplate?: string | null;
								/** @description Values of the placeholders: text, numbers, or users, who are shown by name. `recipientUser`, text or a user, is shown to all readers; without it each reader sees their own name. At most 16384 bytes of JSON. */
								displayHeadlineMessageTemplateData?: {
									[key: string]: unknown;
								} | null;
								displayBodyMessage?: string | null;
								/** @description Any data about the notification, at most 16384 bytes of JSON. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description An existing organization is not changed (`success: false`).
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
								/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes organizations with their documents and content, folders, users, groups and permissions. Connections are closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
							 * @description Access without a grant. `public`: every user edits. `organizationPrivate`: members of the organization have their role of the organization. `restricted`: only users with a grant have access.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description An existing document is not changed (`success: false`).
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
								/** @description Access without a grant. `public`: every user edits. `organizationPrivate`: members of the organization have their role of the organization. `restricted`: only users with a grant have access. */
								accessType?: ("public" | "organizationPrivate" | "restricted") | null;
								/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
							}[];
							/**
							 * @description True: creates the organization first if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description True: first creates missing folders, at the top.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes documents with the content of all their editors and the permissions on them. Connections are closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Returns documents by id, without unknown ids; or the documents directly in a folder, or all documents, ordered by id, in pages. `search` selects documents whose id or name contains it.
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
							/** @description Only the documents directly in it; `root`: documents without a folder. Not with `documentIds`. */
							folderId?: string | null;
							/** @description Only items with this text anywhere in their id or name; not with `documentIds`. Case and Unicode normalization do not matter; spaces do. One call reads at most 5,000 items: a page may have fewer items than requested, or no items. Continue until there is no `pageToken`. */
							search?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description '' if not given. */
									documentName: string;
									disabled: boolean;
									/**
									 * @description Effective access type: its own, else that of its folder, else `public`.
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
									/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
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
		 * @description Moves documents into a folder, or out of their folder. Documents then inherit access from the new folder.
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
							 * @description Target folder; `root`: no folder.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Omitted members keep their values.
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
								/** @description Access without a grant. `public`: every user edits. `organizationPrivate`: members of the organization have their role of the organization. `restricted`: only users with a grant have access. */
								accessType?: ("public" | "organizationPrivate" | "restricted") | null;
								/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description True: no user may open or change the document. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
							 * @description Access without a grant. `public`: every user edits. `organizationPrivate`: members of the organization have their role of the organization. `restricted`: only users with a grant have access.
							 * @enum {string}
							 */
							accessType: "public" | "organizationPrivate" | "restricted";
							/** @description False: permissions from parent folders and the organization do not apply in the folder. Default: unchanged; true for new folders. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes the folder with all folders and documents in it, and their content. Connections to these are closed permanently. The response comes when everything is deleted. After a crash the server resumes the deletion.
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
		 * @description Returns all folders of the organization, or one folder with its subfolders down to a depth.
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
							/** @description Default: all folders. */
							folderId?: string | null;
							/**
							 * @description Levels of subfolders; 0: no subfolders, 1: only direct subfolders.
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
									/** @description '' if not given. */
									folderName: string;
									/**
									 * Format: id
									 * @description Id of the organization.
									 */
									organizationId: string;
									/**
									 * Format: id
									 * @description Id of the parent folder; `root` at the top.
									 */
									parentFolderId: string;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Records of its subfolders, down to the requested depth; only if the request names a folder. */
									subFolders?: Record<string, never>[];
									/** @description API key of the folder. */
									apiKey: string;
									/** @description Ids of its parent folders, from `root` down. */
									ancestors: string[];
									/**
									 * @description Effective access type: its own, else that of the nearest parent folder from which it inherits, else `public`.
									 * @enum {string}
									 */
									accessType: "public" | "organizationPrivate" | "restricted";
									/** @description False: permissions from parent folders and the organization do not apply in this folder. */
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
		 * @description Returns organizations by id, without unknown ids; or all organizations, ordered by id, in pages. `search` selects organizations whose id or name contains it.
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
							/** @description Default: all organizations of the API key. */
							organizationIds?: string[] | null;
							/** @description Only items with this text anywhere in their id or name; not with `organizationIds`. Case and Unicode normalization do not matter; spaces do. One call reads at most 1,000 items: a page may have fewer items than requested, or no items. Continue until there is no `pageToken`. */
							search?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
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
		 * @description Omitted members keep their values.
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
								/** @description Any data about the resource, at most 16384 bytes as JSON. Replaced as a whole. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Deletes groups with all their grants. Their users stay in the organization. Open connections follow within a second.
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * List user groups, or the users or grants of one group
		 * @description Groups of an organization, ordered by id; with a folder or document, the groups that have a role on it. Or one group with its users, or with its grants.
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
							/** @description Only groups with a role on this folder. */
							folderId?: string | null;
							/** @description Only groups with a role on this document; not together with `folderId`. */
							documentId?: string | null;
							/** @description Answer this group, with its users, or with `grants`, which are what is paged; not together with `folderId` or `documentId`. */
							organizationUserGroupId?: string | null;
							/**
							 * @description With `organizationUserGroupId`, true: returns the grants of the group in place of its users.
							 * @default false
							 */
							grants?: boolean | null;
							/** @description Only groups with these ids; default: all groups. */
							groupIds?: string[] | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									 * @description Role of the group on the requested folder or document, else on the organization itself; absent without a grant.
									 * @enum {string}
									 */
									accessRole?: "viewer" | "editor";
									/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
									expiresAt?: number;
									/** @description Epoch milliseconds. */
									createdAt: number;
									/** @description Epoch milliseconds. */
									lastUpdated: number;
									/** @description Users of the group, ordered by id; only with `organizationUserGroupId`. */
									userIds?: string[];
									/** @description Grants of the group, ordered by expiry; only with `grants`. A page may have fewer items than requested. */
									grants?: {
										/**
										 * @description Type of the resource.
										 * @enum {string}
										 */
										type: "organization" | "folder" | "document";
										/** @description Id of the resource. */
										id: string;
										/** @enum {string} */
										accessRole: "viewer" | "editor";
										/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
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
		 * Add users to the presence of a document
		 * @description Users who are not connected appear for a limited time, also in the awareness of connected clients, each with its own client id. Connected users are changed as by `presence/update`. A user whom `presence/delete` removed appears again. The given values end when the user closes the last connection. In a cluster, the nodes with clients on the document know users who are not connected; without such a node, these users disappear when the node that received the call stops.
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
								/** @description Only `presence/get` returns it. */
								email?: string | null;
								/** @description Any status, such as `online`, `away`, `offline`. */
								status?: string | null;
							}[];
							/**
							 * @description Time in seconds for which users who are not connected stay, unless they are added or updated again.
							 * @default 60
							 */
							ttlSeconds?: number | null;
							/**
							 * @description True: creates the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description True: creates the document, without a folder, if it does not exist.
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
		 * Remove users from the presence of a document
		 * @description Hides users. Connected users stay connected, and appear again when they reconnect or when `presence/add` adds them. A user who is not present is a success.
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
		 * List users on a document
		 * @description Lists users who are connected to one of its editors, or whom a backend added, ordered by id.
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
							/** @description Only these users. */
							userIds?: string[] | null;
							/** @description Only users with one of these statuses. */
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
									/** @description Only `presence/get` returns it. */
									email: string;
									/** @description Status from REST, else from the client, else `online`. */
									status: string;
									/**
									 * @description `socket`: the user is connected; `rest`: only a backend added the user.
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
		 * Change the presence of users on a document
		 * @description Omitted members keep their values. Clients see the status at once, as `user.status` of the awareness state. It stays until the next change, or until the user closes the last connection. For users who are not connected, the limited time starts again. Users who are not present are skipped.
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
								/** @description Only `presence/get` returns it. */
								email?: string | null;
								/** @description Any status, such as `online`, `away`, `offline`. */
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
	"/v2/requests/get": {
		parameters: {
			query?: never;
			header?: never;
			path?: never;
			cookie?: never;
		};
		get?: never;
		put?: never;
		/**
		 * List recent requests and rejections
		 * @description The latest calls of the API key, and the latest calls and websockets that the server rejected, with the reason, on all nodes of the cluster, the latest first. Equal requests share an entry with their number. Each node keeps them in memory until it stops, at most 100 accepted and 100 rejected entries. A request that names no API key belongs to the first API key, unless the server can have several workspaces. A node that does not answer within 250 ms is left out.
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
							 * @description Only requests that the server rejected.
							 * @default false
							 */
							onlyRejected?: boolean | null;
							/** @description Only requests of this kind. */
							kind?: ("rest" | "websocket") | null;
							/**
							 * @description Maximum number of items in the response. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Epoch milliseconds of the latest of these requests. */
									timestamp: number;
									/** @enum {string} */
									kind: "rest" | "websocket";
									/** @description Path of the operation, or the document that the websocket requested. */
									target: string;
									/** @description `success`, the status of an error, or the close code of a websocket. */
									outcome: string;
									/** @description Code of the error of a call. */
									code?: string;
									/** @description Why the server rejected the request. */
									reason?: string;
									/** @description IP address of the client. */
									clientAddress: string;
									/** @description Id of the latest of these calls, as in the log. */
									requestId?: string;
									/** @description Number of equal requests. */
									times: number;
									/** @description Node of the cluster that answered. */
									node: string;
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
		 * @description Adds users to an organization, with a role on it, or on one folder or document of it. An existing user is changed: omitted members keep their values. The role has no expiry.
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
							/** @description Users of this folder; default without `documentId`: users of the organization. */
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
								/** @description Color of the user, as a CSS color. */
								color?: string | null;
								/** @description Any data about the user, replaced as a whole; at most 16384 bytes of JSON. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description Role on the resource. Default: `editor`; a user with a role there keeps it, with its expiry. */
								accessRole?: ("viewer" | "editor") | null;
							}[];
							/**
							 * @description True: creates the organization if it does not exist.
							 * @default false
							 */
							createOrganization?: boolean | null;
							/**
							 * @description True: creates the folder, at the top, if it does not exist.
							 * @default false
							 */
							createFolder?: boolean | null;
							/**
							 * @description True: creates the document, without a folder, if it does not exist.
							 * @default false
							 */
							createDocument?: boolean | null;
							/** @description True: creates the named organization, and the folder or document in it, if they do not exist. Default: the option `createMissing` of the server. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Erases a user. Revokes the user's tokens and closes the user's connections (4401) in every organization. Deletes permissions, group memberships, the user record, notifications for the user, and presence. Comments, activities and notifications that others see stay, with `deleted-user` in place of the user; judgments stay without a reviewer. The response comes after at most 5 seconds. While the status is `running`, the erasure continues in the background, also after a crash; call again to read the progress. A call after `done` erases later data, and adds to the counts for 30 days. Not erased: the content of documents, the id in their change history, targets of activities that are not named `user.…`, and free text, such as messages and comments.
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
							/** @description Only data of this organization; default: all organizations of the API key. */
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
									 * @description `done`: everything is deleted.
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
		 * @description All stored data of a user: presence, judgments, permissions, groups, the user record, comments, activities, notifications and notification settings. Comments, activities and notifications include the ones that name the user; a `comment` without a `commentId` is an annotation. The order is stable: a record that exists from the first page to the last is returned exactly once. A page may have fewer items than `pageSize`, or no items, and is not always the last one. The content of documents is not included.
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
							/** @description Only data of this organization; default: all organizations of the API key. */
							organizationId?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Absent without an organization. */
									organizationId?: string;
									/** @description Absent without a document. */
									documentId?: string;
									/** @description The stored record. Recipients of a notification, and users who react to a comment, are reduced to this user. */
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
		 * @description Revokes the role of users on a folder or document. Without these, removes the users from the organization, with all permissions in it, their group memberships, and their records. Open connections follow within one second.
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
							/** @description Users of this folder; default without `documentId`: users of the organization. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * @description Users of an organization: users who were added to it, have a permission in it, or are in one of its groups. With a folder or document: users who have a role on it. Ordered by id, in pages. `search` selects users whose id, name or email contains it.
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
							/** @description Users of this folder; default without `documentId`: users of the organization. */
							folderId?: string | null;
							/** @description Users of this document; not together with `folderId`. */
							documentId?: string | null;
							/** @description Only users with these ids; default: all users of the resource. */
							userIds?: string[] | null;
							/** @description Only items with this text anywhere in their id, name or email; not with `userIds`. Case and Unicode normalization do not matter; spaces do. One call reads at most 5,000 items: a page may have fewer items than requested, or no items. Continue until there is no `pageToken`. */
							search?: string | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 1000
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Color of the user, as a CSS color. */
									color: string;
									/** @description Any data about the user, replaced as a whole; at most 16384 bytes of JSON. */
									metadata: {
										[key: string]: unknown;
									};
									/**
									 * @description Role that is granted to the user on the resource itself; absent for users of the organization who have roles only on folders or documents in it, or by groups.
									 * @enum {string}
									 */
									accessRole?: "viewer" | "editor";
									/** @description Expiry of the role, in Unix seconds; absent without an expiry. */
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
		 * @description Changes the records of users, and their role on the resource. Omitted members keep their values. A user who is not a user of the resource is not changed (`success: false`).
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
							/** @description Users of this folder; default without `documentId`: users of the organization. */
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
								/** @description Color of the user, as a CSS color. */
								color?: string | null;
								/** @description Any data about the user, replaced as a whole; at most 16384 bytes of JSON. */
								metadata?: {
									[key: string]: unknown;
								} | null;
								/** @description New role on the resource; its expiry, if any, does not change. */
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
								/** @description By item id; for an item without an id, by its JSON pointer. */
								data: {
									[key: string]: {
										/** @description False: nothing was done for this item. */
										success: boolean;
										id: string;
										/** @description Result, or the reason of the failure. */
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
		 * List deliveries to a webhook endpoint
		 * @description Outcome of each event with all attempts, the newest event first. The server keeps it for 30 days after the event (a server option), or until the organization or the endpoint is deleted.
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
							/** @description `pending`: waits for its first or next attempt. */
							status?: ("pending" | "succeeded" | "failed") | null;
							/**
							 * @description Maximum number of items in the response. A number above 250 stands for 250.
							 * @default 50
							 */
							limit?: number | null;
							/** @description `iterator` of a response for the next page, or its `prevIterator` for the previous page. */
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
										 * @description `webhook-id` of the delivery: the same for every attempt.
										 */
										messageId: string;
										eventType: string;
										/**
										 * @description `pending`: waits for its first or next attempt.
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
										/** @description Reason of the failure, if it is not that of the last attempt. */
										reason: string | null;
										/** @description The latest attempts, the oldest first. */
										attempts: {
											/** Format: date-time */
											time: string;
											/** @description HTTP status of the response; null without a response. */
											httpCode: number | null;
											/** @description Milliseconds. */
											durationMs: number;
											/** @description Why it failed; null: it succeeded. */
											error: string | null;
										}[];
									}[];
									/** @description Cursor of the next page; null on the last page. */
									iterator: string | null;
									/** @description Cursor of the previous page; null on the first page. */
									prevIterator: string | null;
									/** @description True on the last page. */
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
		 * Send failed deliveries again
		 * @description Sends failed events since a time again, the oldest first, at most 1000 per call. If the response reports this number, call again for further events.
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
									/** @description Number of events that are sent again. */
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
		 * Send one delivery again to a webhook endpoint
		 * @description Sends the event again at once, after any outcome, with the same `webhook-id` and as many attempts as a new event.
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
							 * @description `webhook-id` of the delivery: the same for every attempt.
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
									 * @description `webhook-id` of the delivery: the same for every attempt.
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
		 * @description Creates an endpoint and its signing secret, which only `secret/get` returns. The endpoint gets events that happen after the response.
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
							/** @description http(s) URL that receives the events. */
							url: string;
							description?: string | null;
							/** @description Types of the events to send; default, or if empty: all. Types: `comment_annotation.add`, `comment_annotation.assign`, `comment_annotation.status_change`, `comment_annotation.priority_change`, `comment_annotation.suggestion_accept`, `comment_annotation.suggestion_reject`, `comment.add`, `comment.update`, `comment.delete`, `comment.reaction_add`, `comment.reaction_delete`, `huddle.create`, `huddle.join`, `recorder.done`, `crdt.update_data`, `document.create`, `document.delete`, `presence.join`, `presence.leave`, `webhook.test`, `message.attempt.exhausted`. Other types are stored without effect: `warnings` lists them. */
							filterTypes?: string[] | null;
							/** @description Ids of the organizations and documents whose events to send; default, or if empty: all. */
							channels?: string[] | null;
							/** @description True: the endpoint gets no events. */
							disabled?: boolean | null;
							/** @description Maximum deliveries per second; default: unlimited. */
							rateLimit?: number | null;
							/** @description Any data about the endpoint, at most 4096 bytes as JSON. Replaced as a whole. */
							metadata?: {
								[key: string]: string | null;
							} | null;
							/** @description Your own unique name of the endpoint, accepted in place of `endpointId`. */
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
									/** @description http(s) URL that receives the events. */
									url: string;
									description: string | null;
									filterTypes: string[] | null;
									channels: string[] | null;
									/** @description True: the endpoint gets no events. A call, its own response 410, or five days of only failures disabled it. */
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
								/** @description Accepted values without an effect, one sentence each; absent if there are none. */
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
		 * @description Stops all deliveries to the endpoint, including queued ones. Its `uid` can be used again.
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
		 * @description Ordered by id.
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
							 * @description Maximum number of items in the response. A number above 250 stands for 250.
							 * @default 50
							 */
							limit?: number | null;
							/** @description `iterator` of a response for the next page, or its `prevIterator` for the previous page. */
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
										/** @description http(s) URL that receives the events. */
										url: string;
										description: string | null;
										filterTypes: string[] | null;
										channels: string[] | null;
										/** @description True: the endpoint gets no events. A call, its own response 410, or five days of only failures disabled it. */
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
									/** @description Cursor of the next page; null on the last page. */
									iterator: string | null;
									/** @description Cursor of the previous page; null on the first page. */
									prevIterator: string | null;
									/** @description True on the last page. */
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
		 * @description Anyone with the secret can forge events for the endpoint.
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
		 * @description For `graceSeconds` events are also signed with the replaced secret. An earlier replaced secret no longer signs events.
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
							 * @description Time in seconds for which the replaced secret also signs events.
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
		 * Send a test event to a webhook endpoint
		 * @description Queues a signed test event (`data.test` is true), for any types and channels of the endpoint. `deliveries/get` returns its outcome.
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
									 * @description `webhook-id` of the delivery: the same for every attempt.
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
		 * @description Changes the given members; at least one member besides `endpointId` is required. Null unsets what can be unset. With `disabled` false an endpoint that was disabled for its failures is sent events again.
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
							/** @description http(s) URL that receives the events. */
							url?: string | null;
							description?: string | null;
							filterTypes?: string[] | null;
							channels?: string[] | null;
							/** @description True: the endpoint gets no events. */
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
									/** @description http(s) URL that receives the events. */
									url: string;
									description: string | null;
									filterTypes: string[] | null;
									channels: string[] | null;
									/** @description True: the endpoint gets no events. A call, its own response 410, or five days of only failures disabled it. */
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
								/** @description Accepted values without an effect, one sentence each; absent if there are none. */
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
		 * Read the configuration of all webhook endpoints
		 * @description Before the first configuration: `false` and an empty `publicKey`.
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
									/** @description Whether endpoints get events. */
									isEnabled: boolean;
									/** @description Send base64 of the JSON. */
									encodeData: boolean;
									/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
									encryptData: boolean;
									/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
									publicKey: string;
									/** @description True: omits names, e-mail addresses and content from events. */
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
		 * Change the configuration of all webhook endpoints
		 * @description Changes the given members; at least one member is required. While they are disabled endpoints are kept, can be neither read nor changed, and are sent nothing.
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
							/** @description Whether endpoints get events. */
							isEnabled?: boolean | null;
							/** @description Send base64 of the JSON. */
							encodeData?: boolean | null;
							/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
							encryptData?: boolean | null;
							/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
							publicKey?: string | null;
							/** @description True: omits names, e-mail addresses and content from events. */
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
									/** @description Whether endpoints get events. */
									isEnabled: boolean;
									/** @description Send base64 of the JSON. */
									encodeData: boolean;
									/** @description Encrypt with `publicKey`, which must be set; there is then no further encoding. */
									encryptData: boolean;
									/** @description RSA key of 2048 to 8192 bits: a PEM file, or its base64 body without the first and last line, in the form SPKI or PKCS#1; '' for none. */
									publicKey: string;
									/** @description True: omits names, e-mail addresses and content from events. */
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
		 * Create an API key
		 * @description Creates an API key with an auth token. The data of each API key is its own.
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
							 * @description A label without effect.
							 * @enum {string}
							 */
							type: "testing" | "production";
							/**
							 * @description Name for people.
							 * @default
							 */
							apiKeyName?: string | null;
							/** @description Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, but not example.com itself. None: pages of all domains. */
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
		 * @description Ordered by key.
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
							 * @description Maximum number of items in the response. A number above 100 stands for 100.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									 * @description A label without effect.
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
		 * Read the audit log
		 * @description The audit log of the workspace, by time: administration, deletion and access to secrets, or, by a server option, all changes; counts of rejected credentials of its API keys or of the workspace; and changes by a start of the server. The server writes a record before it responds to the call, and keeps it for 90 days (a server option). A page may have fewer items than requested, or no items: continue until there is no `pageToken`.
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
							/** @description Only records of this operation. */
							operation?: string | null;
							/** @description Only records of this API key, or records that name it. */
							apiKey?: string | null;
							/** @description Only records of this actor type. */
							actor?: ("key" | "workspace" | "operator" | "nobody") | null;
							/** @description Only later records, in epoch milliseconds. */
							after?: number | null;
							/** @description Only earlier records, in epoch milliseconds. */
							before?: number | null;
							/**
							 * @description By time.
							 * @default desc
							 */
							order?: ("asc" | "desc") | null;
							/**
							 * @description Maximum number of items in the response. A number above 1000 stands for 1000.
							 * @default 100
							 */
							pageSize?: number | null;
							/** @description `pageToken` of the previous response. All other parameters must stay the same. */
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
									/** @description Sorts by time. */
									auditId: string;
									/** @description Time of the call, in epoch milliseconds. */
									timestamp: number;
									/** @description Path of the operation; `authentication.key`, `.workspace` or `.realtime` for rejected credentials; `start.…` for changes by a start of the server. */
									operation: string;
									/**
									 * @description Type of the credentials of the caller.
									 * @enum {string}
									 */
									actor: "key" | "workspace" | "operator" | "nobody";
									/** @description API key of the call; for rejected credentials the key that the caller sent. */
									apiKey?: string;
									/** @description IP address of the caller. */
									clientAddress?: string;
									/** @description `x-request-id` of the call. */
									requestId?: string;
									/** @description `success`, or the status of the error. `UNKNOWN`: the call is running, or the server stopped during it. */
									outcome: string;
									/** @description Ids that the call names or created, by member. */
									ids: {
										[key: string]: string[];
									};
									/** @description Number of ids that the record does not contain. */
									idsLeftOut?: number;
									/** @description First 32 hex digits of the SHA-256 of the `idempotency-key` header. */
									idempotencyKeyHash?: string;
									/** @description True: the server returned the stored response of an earlier call with the same key. */
									replayed?: boolean;
									/** @description Number of rejected credentials in one minute; only in such records. */
									refusals?: {
										/** @description How many. */
										count: number;
										/** @description Time of the first of them, in epoch milliseconds. */
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
		 * @description Earlier tokens stay valid for at most `graceSeconds`. The next start of the server restores a token that its configuration names.
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
							 * @description Time in seconds for which the replaced token stays valid.
							 * @default 0
							 */
							graceSeconds?: number | null;
							/** @description Domains of the pages that may use the new token; empty: all. Default: the domains of the replaced token. Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, but not example.com itself. */
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
										/** @description Domains of the pages that may use the token; empty: all. */
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
		 * @description Earlier tokens of the workspace stay valid for at most `graceSeconds`. The next start of the server restores a token that its configuration names: put the new token there.
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
							 * @description Time in seconds for which the replaced token stays valid.
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
									/** @description The new auth token of the workspace. */
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
		 * @description Replaced tokens that are still valid are not included.
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
										/** @description Domains of the pages that may use the token; empty: all. */
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
		 * @description Creates a workspace with one API key for testing and its auth token.
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
							/** @description Name of the owner; default: the part of the email before the @. */
							name?: string | null;
							/** @description Name of the workspace; default: `{name} workspace`. */
							workspaceName?: string | null;
							/** @description URL (http or https) of a picture of the owner. */
							avatar?: string | null;
							/** @description Bytes that the workspace may store; 0 means unlimited. Default: the option `maxStoredBytesPerWorkspace`. */
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
										/** @description Generated id of the owner. */
										id: string;
										/** @description Display name. */
										name: string;
										/** @description URL of a picture; '' without one. */
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
											 * @description A label without effect.
											 * @enum {string}
											 */
											type: "testing" | "production";
										};
									};
									/** @description The first API key of the workspace. */
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
							/** @description Bytes that the workspace may store; 0 means unlimited. Default: the option `maxStoredBytesPerWorkspace`. */
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
		 * @description If an API key has domains, pages of other domains may neither connect nor call. Requests without an `Origin` header are not from pages, and are not restricted.
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
							/** @description Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, but not example.com itself. */
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
		 * Remove allowed domains
		 * @description If no domain remains, pages of all domains may connect.
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
							/** @description Domains or URLs. A URL stands for its domain without a leading `www.`. `*.example.com` matches all subdomains, but not example.com itself. */
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
									/** @description Empty: pages of all domains may connect. */
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
		 * @description Returns the workspace and its API keys (at most 1000). The number of calls per minute is limited.
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
										/** @description Generated id of the owner. */
										id: string;
										/** @description Display name. */
										name: string;
										/** @description URL of a picture; '' without one. */
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
											 * @description A label without effect.
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
		 * @description Before the first configuration: `false`, empty strings and no triggers.
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
										/** @description http(s) URL that receives every event whose trigger is on; '' for none. */
										rawNotificationUrl: string;
										/** @description Like `rawNotificationUrl`, but its events name the recipients; '' for none. */
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
		 * @description Changes the given members and triggers; one of the two members is required. If no triggers are stored, enabling the service turns on the triggers of comments, except suggestions, and of huddles; given triggers take precedence. The change applies to events after the response.
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
								/** @description http(s) URL that receives every event whose trigger is on; '' for none. */
								rawNotificationUrl?: string | null;
								/** @description Like `rawNotificationUrl`, but its events name the recipients; '' for none. */
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
										/** @description http(s) URL that receives every event whose trigger is on; '' for none. */
										rawNotificationUrl: string;
										/** @description Like `rawNotificationUrl`, but its events name the recipients; '' for none. */
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
								/** @description Accepted values without an effect, one sentence each; absent if there are none. */
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
					/** @description Violations of the request schema. */
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
