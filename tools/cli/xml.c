/* xml.c: text in XML: what JUnit's reports are made of. SPDX-License-Identifier: MIT
 */
#include "xml.h"

void xml_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&' || c == '"')
            (void)fprintf(out, "&#%u;", c);
        else if (c >= 0x20 && c < 0x7f)
            (void)fputc(c, out);
        else
            (void)fputc('?', out);
    }
}

void xml_attribute(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, " %s=\"", name);
    xml_text(out, value);
    (void)fputc('"', out);
}
