/** Of OpenAPI 3.1 what our documents hold. */

export type Schema = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  default?: unknown;
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
};

/** `examples`: by error code, each a reference to one of the document's. */
export type Content = Record<
  string,
  { schema: Schema; example?: unknown; examples?: Record<string, { $ref: string }> }
>;

export type Header = { description: string; schema: Schema };

export type Response = {
  description: string;
  headers?: Record<string, Header | { $ref: string }>;
  content?: Content;
};

export type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  /** Each by itself suffices; names behind a scheme are permissions that the credential needs. */
  security: Record<string, string[]>[];
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response>;
};

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

export type PathItem = { [of in Method]?: Operation };

export type ApiDocument = {
  openapi: '3.1.1';
  info: { title: string; version: string; summary: string; description: string };
  servers: {
    url: string;
    description?: string;
    variables?: Record<string, { default: string; description: string }>;
  }[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks?: Record<string, PathItem>;
  components: {
    securitySchemes: Record<string, Record<string, unknown>>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    schemas: Record<string, Schema>;
    examples?: Record<string, { value: unknown }>;
  };
};
