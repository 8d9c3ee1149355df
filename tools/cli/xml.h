/* xml.h: text in XML. Errors of writing are the stream's. SPDX-License-Identifier: MIT
 */
#ifndef RD_XML_H
#define RD_XML_H

#include <stdio.h>

/* Text between tags or quotes, escaped. */
void xml_text(FILE *out, const char *text);
/* A blank, the name and the quoted value. */
void xml_attribute(FILE *out, const char *name, const char *value);

#endif
