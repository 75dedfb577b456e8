export {
  Client,
  type Answered,
  type ClientOptions,
  type SecondFactorProof,
  type StepUpProof,
  type StepUpRequest,
} from "./client.js";
export type { Environment } from "./environment.js";
export type { Event, EventOptions } from "./events.js";
export type { components, paths } from "./generated/api.js";
export { documentDigest } from "./generated/operations.js";
export { Problem, RequestFailed, type FailureCode, type FieldError, type ProblemCode } from "./problem.js";
export type { RetryOptions } from "./retry.js";
export { Tokens, type TokenValues } from "./tokens.js";
export type { Preview, Schemas } from "./types.js";
export { InvalidWebhook, verifyWebhook, type ReceivedHeaders, type WebhookEvent } from "./webhook.js";
